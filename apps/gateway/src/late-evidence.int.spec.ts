import { type Bus, commitHints, connectBus } from '@intendant/bus';
import type { Command, Terms, Verdict } from '@intendant/intent';
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
import { take } from './event-stream.spec-helper.js';
import { environment, startGateway, type TestGateway, tokenFor } from './gateway.spec-helper.js';

let nats: NatsServer;
let database: TestDatabase;
let gateway: TestGateway;
let bus: Bus;
let store: Store;

beforeAll(async () => {
  [nats, database] = await Promise.all([startNats(), createDatabase()]);
  gateway = await startGateway(environment(database.url, nats.url));
  bus = await connectBus({ url: nats.url, name: 'spec' });
  store = await Store.open({ url: database.url, name: 'spec' }, { committed: commitHints(bus) });
});
afterAll(async () => {
  await gateway?.close();
  await store?.close();
  await bus?.close();
  await Promise.all([nats?.stop(), database?.drop()]);
});

const silence: Verdict = { kind: 'unknown', cause: 'timeout', detail: '' };
const refused: Verdict = { kind: 'not_executed', cause: 'http_422', transient: false, retryAfterMs: null, detail: '' };
const executed: Verdict = { kind: 'executed', data: { refund_id: 're_1' } };
const blind: Terms = { ...quickTerms, guarantee: 'none', lookup: 'none', settleMs: 0 };

/** An intent of a run that is closed, after these verdicts of its one attempt. */
async function settled(terms: Terms, ...verdicts: Verdict[]) {
  const runId = `run_${ulid()}`;
  const run = { id: runId, tenant: 'acme', user: 'ada', profile: 'batch', permissions: [], phase: null } as const;
  await store.runs.open({ ...run, openedBy: 'spec' }, 3_600_000);
  const p = proposal({ runId, terms });
  const { intentId } = p;
  const attemptId = ulid();
  const execute = async (command: Command) =>
    expect((await store.door.execute({ intentId, command })).kind).toBe('accepted');
  const report = (verdict: Verdict) => execute({ type: 'record_verdict', attemptId, verdict, jitter: 0 });
  await execute({ type: 'record', proposal: p, ruling: { allow: true } });
  await execute({ type: 'start_attempt', attemptId });
  for (const verdict of verdicts) await report(verdict);
  await store.runs.close(runId, 'acme');
  const token = await tokenFor(runId);
  return { intentId, runId, token, report, execute };
}
/** In doubt, until a person said that it did not happen. */
async function resolved() {
  const intent = await settled(blind, silence);
  const evidence = 'it is on no list of theirs';
  await intent.execute({ type: 'resolve', by: 'olga', outcome: 'not_executed', externalId: null, evidence });
  return intent;
}

const follow = (path: string, token: string, after?: string) =>
  fetch(gateway.url + path, {
    headers: {
      ...{ accept: 'text/event-stream', authorization: `Bearer ${token}` },
      ...(after !== undefined && { 'last-event-id': after }),
    },
  });

describe.each(['intent', 'run'] as const)('the stream of an %s', (of) => {
  const pathOf = ({ intentId, runId }: { intentId: string; runId: string }) =>
    of === 'intent' ? `/v1/intents/${intentId}/events` : `/v1/runs/${runId}/events`;

  it.each([
    ['a success', quickTerms, [executed]],
    ['a refusal', quickTerms, [refused]],
    ['an answer that came after all', quickTerms, [silence, executed]],
  ] as const)('is over after %s, and there is nothing to go on after', async (_, terms, verdicts) => {
    const intent = await settled(terms, ...verdicts);
    const told = await take(await follow(pathOf(intent), intent.token));
    expect(told.at(-1)).toEqual({ id: null, event: 'end', data: { reason: 'over' } });
    const after = await follow(pathOf(intent), intent.token, told.at(-2)?.id ?? '');
    expect([after.status, await after.text()]).toEqual([204, '']);
  });

  it('is settled, and no more than that, while late evidence may correct it; who goes on hears of that', async () => {
    const intent = await resolved();
    const told = await take(await follow(pathOf(intent), intent.token));
    expect(told.at(-2)?.event).toBe('failed');
    expect(told.at(-1)).toEqual({ id: null, event: 'end', data: { reason: 'settled' } });
    const going = await follow(pathOf(intent), intent.token, told.at(-2)?.id ?? '');
    expect(going.status).toBe(200);
    await intent.report(executed);
    const more = await take(going);
    expect(more.map(({ event }) => event)).toEqual(['corrected', 'end']);
    expect(more.at(-1)?.data).toEqual({ reason: 'settled' });
  });

  it('ends when what it tells is settled, also for who had it all before', async () => {
    const intent = await settled(blind, silence);
    let after = '';
    const upTo = async () => {
      const { events, nextCursor } = (await gateway.call('GET', pathOf(intent), intent.token)).body;
      const last = (events as { type: string; version: number }[]).at(-1);
      after = String(nextCursor ?? last?.version);
      return last?.type;
    };
    // The log of a run is withheld where transactions of others, anywhere on the server, began earlier.
    await expect.poll(upTo).toBe('dead_lettered');
    const going = take(await follow(pathOf(intent), intent.token, after));
    const evidence = 'nowhere';
    await intent.execute({ type: 'resolve', by: 'olga', outcome: 'not_executed', externalId: null, evidence });
    expect((await going).map(({ event }) => event)).toEqual(['resolved', 'failed', 'end']);
  });
});

describe('a question for what has changed', () => {
  /** Asks for what is not known yet, for 20 seconds at most, once the present state is known. */
  const asking = async ({ intentId, token }: { intentId: string; token: string }) => {
    const path = `/v1/intents/${intentId}`;
    const { headers } = await gateway.call('GET', path, token);
    const known = { 'if-none-match': headers.get('etag') ?? '', prefer: 'wait=20' };
    return () => gateway.call('GET', path, token, { headers: known });
  };

  it('is answered at once where nothing can change any more', async () => {
    const ask = await asking(await settled(quickTerms, executed));
    const began = performance.now();
    expect((await ask()).status).toBe(304);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('waits where a correction may come, and is answered with it', async () => {
    const intent = await resolved();
    const answer = (await asking(intent))();
    await intent.report(executed);
    expect(await answer).toMatchObject({
      status: 200,
      body: { outcome: 'executed', corrections: [{ finding: 'executed' }] },
    });
  });
});
