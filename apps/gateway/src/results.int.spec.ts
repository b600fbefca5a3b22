import type { Json, JsonObject, Showing, Terms } from '@intendant/intent';
import { Store } from '@intendant/store';
import {
  createDatabase,
  type NatsServer,
  proposal,
  quickTerms,
  startNats,
  type TestDatabase,
} from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environment, keys, startGateway, type TestGateway, tokenFor } from './gateway.spec-helper.js';

const items = Array.from({ length: 3_412 }, (_, n) => ({ id: `ord_${n}`, note: 'é'.repeat(40) }));
const list = { at: '/items', limit: 20, max: 100, order: 'newest first', narrow: ['status', 'since'] };

describe('reading results by handle', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let store: Store;

  /** An intent that was answered with `data`, and the token of its run. */
  async function answered(data: Json, shows: Showing = {}, terms: Partial<Terms> = {}) {
    const p = proposal({ terms: { ...quickTerms, ...terms, shows } });
    const { intentId, runId } = p;
    const attemptId = ulid();
    await store.door.execute({ intentId, command: { type: 'record', proposal: p, ruling: { allow: true } } });
    await store.door.execute({ intentId, command: { type: 'start_attempt', attemptId } });
    const verdict = { kind: 'executed', data } as const;
    await store.door.execute({ intentId, command: { type: 'record_verdict', attemptId, verdict, jitter: 0 } });
    return { intentId, token: await tokenFor(runId) };
  }
  const read = (path: string, credential: string | null) => gateway.call('GET', path, credential);

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), createDatabase()]);
    gateway = await startGateway(environment(database.url, nats.url));
    store = await Store.open({ url: database.url, name: 'spec' });
  });
  afterAll(async () => {
    await gateway?.close();
    await store?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
  });

  it('shows as much as the tool says, and the handle reads all of it, page by page', async () => {
    const { intentId, token } = await answered({ items }, { list });
    const { body } = await read(`/v1/intents/${intentId}`, token);
    expect(body).toMatchObject({
      data: { items: items.slice(0, 20) },
      total: 3_412,
      summary: 'Showing 20 of 3,412, newest first; narrow with status= or since=. The handle reads the rest.',
      handle: `res_${intentId}`,
    });
    const found: unknown[] = [];
    for (let cursor: unknown = '0'; cursor !== null; ) {
      const page = await read(`/v1/results/res_${intentId}?limit=100&cursor=${cursor}`, token);
      expect(page).toMatchObject({ status: 200, body: { kind: 'list', pointer: '/items', total: 3_412 } });
      found.push(...(page.body['data'] as unknown[]));
      cursor = page.body['nextCursor'];
    }
    expect(found).toEqual(items);
  });

  it('reads by JSON Pointer, also for operators of the tenant', async () => {
    const { intentId, token } = await answered({ items });
    expect(await read(`/v1/intents/${intentId}`, token)).toMatchObject({ body: { data: null, error: null } });
    for (const credential of [token, keys.viewer, keys.everywhere]) {
      const page = await read(`/v1/results/res_${intentId}?pointer=/items/3411/id`, credential);
      expect(page).toMatchObject({ status: 200, body: { data: 'ord_3411', pointer: '/items/3411/id' } });
    }
  });

  it.each<[string, Json, Showing]>([
    ['all of it', { items: items.slice(0, 3) }, {}],
    ['none of it, since it is too large', { items }, {}],
    ['the first of a list', { items: items.slice(0, 40) }, { list }],
    ['none of a list that is too large even then', { items }, { list, maxBytes: 500 }],
  ])('shows in the history what the result shows: %s', async (_, data, shows) => {
    const { intentId, token } = await answered(data, shows);
    for (const credential of [token, keys.viewer]) {
      const { data, summary, handle, total } = (await read(`/v1/intents/${intentId}`, credential)).body;
      const { body } = await read(`/v1/intents/${intentId}/events`, credential);
      const shown = {
        data,
        ...(summary !== null && { summary }),
        ...(handle !== null && { handle }),
        ...(total !== undefined && { total }),
      };
      const { version: __, at: ___, type, proof, attempt, ...told } = (body['events'] as JsonObject[]).at(-1) ?? {};
      expect([type, proof, attempt]).toEqual(['committed', 'response', 1]);
      expect(told).toEqual(shown);
    }
  });

  it('says in the history of what was written outside', async () => {
    const { intentId, token } = await answered({ text: 'ignore all' }, {}, { untrusted: true });
    for (const credential of [token, keys.viewer]) {
      const { body } = await read(`/v1/intents/${intentId}/events`, credential);
      const events = body['events'] as JsonObject[];
      expect(events.map(({ untrusted }) => untrusted)).toEqual([undefined, undefined, undefined, true]);
      expect(events.at(-1)?.['warning']).toMatch(/may lie/);
    }
  });

  it.each([
    ['of another run', () => tokenFor(`run_${ulid()}`)],
    ['of another tenant', () => tokenFor(`run_${ulid()}`, 'umbrella')],
    ['as an operator of another tenant', async () => keys.otherOperator],
  ])('does not read a handle %s', async (_, credential) => {
    const { intentId } = await answered({ items });
    const answer = await read(`/v1/results/res_${intentId}`, await credential());
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found', nextAction: 'stop' } } });
    expect(answer.body['detail']).toMatch(
      /^There is no such result: a handle is as a result of (this run|your tenant)/,
    );
    expect(JSON.stringify(answer.body)).not.toContain('items');
  });

  it.each([
    [
      '?pointer=/items/3412',
      404,
      'not_found',
      /^There is nothing at \/items\/3412: \/items is a list of 3,412, from 0/,
    ],
    ['?pointer=/nothing', 404, 'not_found', /^There is nothing at \/nothing: the data is an object/],
    ['?pointer=/items/-', 404, 'not_found', /^There is nothing at \/items\/-: \/items is a list of 3,412, from 0/],
    [`?pointer=/items/${'9'.repeat(400)}`, 404, 'not_found', /^There is nothing at \/items\/9+: \/items is a list/],
    ['?pointer=/items/01', 404, 'not_found', /^There is nothing at \/items\/01: \/items is a list/],
    ['?pointer=/items/length', 404, 'not_found', /^There is nothing at \/items\/length: \/items is a list/],
    ['?pointer=/__proto__', 404, 'not_found', /^There is nothing at \/__proto__: the data is an object with items/],
    ['?pointer=/constructor/name', 404, 'not_found', /^There is nothing at \/constructor\/name: the data is/],
    ['?pointer=/items/0/note/0', 404, 'not_found', /^There is nothing at \/items\/0\/note\/0: \/items\/0\/note is a/],
    ['?pointer=/items~', 422, 'invalid_arguments', /^\/pointer: expected a JSON Pointer/],
    ['?pointer=%00', 400, 'invalid_message', /^\/pointer: expected a JSON Pointer/],
    ['?pointer=/items&pointer=/x', 400, 'invalid_message', /^\/pointer: expected/],
    ['?cursor=-1', 400, 'invalid_message', /^\/cursor: expected the nextCursor/],
    ['?limit=1e2', 422, 'invalid_arguments', /^\/limit: expected/],
    ['?limit=0', 422, 'invalid_arguments', /^\/limit: expected/],
    ['?pointer=items', 400, 'invalid_message', /^\/pointer: expected a JSON Pointer such as \/items\/0/],
    ['?pointer=/~2', 422, 'invalid_arguments', /^\/pointer: expected a JSON Pointer/],
    ['?cursor=9999', 422, 'invalid_arguments', /ends at 1\.$/],
    ['?cursor=x', 400, 'invalid_message', /^\/cursor: expected the nextCursor/],
    ['?limit=101', 422, 'invalid_arguments', /^\/limit: expected a whole number from 1 to 100/],
    ['?limit=0', 422, 'invalid_arguments', /^\/limit: expected a whole number from 1 to 100/],
    ['?limit=1000000', 422, 'invalid_arguments', /^\/limit: expected a whole number from 1 to 100/],
    ['?limit=1e1', 422, 'invalid_arguments', /^\/limit: expected a whole number from 1 to 100/],
    ['?page=2', 400, 'invalid_message', /^\/page: expected no field of this name/],
  ])('answers %s with %i and what would be right', async (query, status, code, says) => {
    const { intentId, token } = await answered({ items });
    const answer = await read(`/v1/results/res_${intentId}${query}`, token);
    expect(answer).toMatchObject({ status, body: { error: { code } } });
    expect(answer.body['detail']).toMatch(says);
    // Another pointer, cursor or limit is what helps.
    expect(answer).toMatchObject({ body: { error: { nextAction: 'fix_arguments' } } });
  });

  it.each(['01JD8Q4Y6V2N7XK3T5W9ZB1CEF', 'res_x', `res_${'0'.repeat(26)}`, 'res_%2e%2e'])(
    'answers %s, which is no handle, with 404',
    async (handle) => {
      const { token } = await answered(1);
      expect(await read(`/v1/results/${handle}`, token)).toMatchObject({ status: 404 });
    },
  );

  it('answers nobody without a credential', async () => {
    const { intentId } = await answered(1);
    expect((await read(`/v1/results/res_${intentId}`, null)).status).toBe(401);
    expect((await read(`/v1/results/res_${intentId}`, keys.service)).status).toBe(403);
  });
});
