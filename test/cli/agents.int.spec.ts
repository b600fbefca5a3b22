import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorObject, Refusal, subjects } from '@intendant/contracts';
import { RunTokens } from '@intendant/credentials';
import { parsePolicyFiles } from '@intendant/rules';
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
import { commandLine } from '../../apps/cli/src/cli.spec-helper.js';
import {
  answerOn,
  environment,
  keys,
  startGateway,
  type TestGateway,
  tokenFor,
} from '../../apps/gateway/src/gateway.spec-helper.js';
import { RunOpening } from '../../apps/policy/src/opening.js';
import { openingRulesOf } from '../../apps/policy/src/rules-of-files.js';

describe('the command line of an agent', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let store: Store;
  let cli: ReturnType<typeof commandLine>;
  let stopOpening: () => Promise<void>;
  const json = (lines: readonly string[]) => JSON.parse(lines.join('\n'));

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), createDatabase()]);
    gateway = await startGateway(environment(database.url, nats.url));
    store = await Store.open({ url: database.url, name: 'spec' });
    // What answers in the policy service.
    const opening = new RunOpening(
      store,
      new RunTokens(keys.secret),
      openingRulesOf(parsePolicyFiles([], []), ['mail.send']),
    );
    stopOpening = await answerOn(nats.url, subjects.rpcOpenRun, ({ payload }) =>
      opening.open({ name: 'bot', tenant: 'acme' }, payload),
    );
    cli = commandLine();
    mkdirSync(path.join(cli.directory, '.intendant'));
    writeFileSync(path.join(cli.directory, '.intendant', 'run.json'), JSON.stringify({ url: gateway.url }));
    const { service: serviceKey, operator: operatorKey } = keys;
    writeFileSync(
      path.join(cli.directory, '.intendant', 'credentials.json'),
      JSON.stringify({ serviceKey, operatorKey }),
    );
  });
  afterAll(async () => {
    await stopOpening?.();
    await gateway?.close();
    await store?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
    cli?.remove();
  });

  it('opens a run, keeps its token where only its owner can read it, submits with it and closes the run', async () => {
    const opened = await cli.run([
      'run',
      'open',
      '--user',
      'ada',
      '--permission',
      'orders:read',
      'mail:send',
      '--save',
    ]);
    expect(opened).toMatchObject({
      status: 0,
      out: [
        expect.stringMatching(/^run +run_/),
        expect.stringMatching(/^until/),
        'budgets  calls 20, mutating 1000, destructive 1, cost without limit, for 120 s',
        expect.stringMatching(/^token +ey/),
      ],
    });
    const file = path.join(cli.directory, '.intendant', 'cli-run.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { runId } = JSON.parse(readFileSync(file, 'utf8'));

    const bodies: string[] = [];
    const result = {
      intentId: 'i1',
      runId,
      stepId: 's1',
      tool: 'orders.get',
      status: 'committed',
      outcome: 'executed',
      replayed: false,
      data: { n: 1 },
      error: null,
    };
    const stop = await answerOn(nats.url, subjects.rpcSubmit, ({ payload, headers }) => {
      bodies.push(Buffer.from(payload).toString(), headers.get('Intendant-Wait') ?? '');
      return result;
    });
    const submitted = await cli.run(
      ['submit', 'orders.get', '-', '--step', 's1', '--wait', '5'],
      '{"id": 12345678901234567890}',
    );
    await stop();
    expect(submitted).toEqual({
      status: 0,
      out: ['orders.get  committed (executed)', 'intent  i1', 'data    {"n":1}'],
      err: [],
    });
    const outside = { untrusted: true, warning: 'This was written outside and may lie.' };
    const stopOutside = await answerOn(nats.url, subjects.rpcSubmit, () => ({ ...result, ...outside }));
    const { out } = await cli.run(['submit', 'orders.get', '--step', 's1']);
    await stopOutside();
    expect(out.slice(-2)).toEqual(['warning This was written outside and may lie.', 'data    {"n":1}']);
    expect(bodies).toEqual(['{"tool":"orders.get","args":{"id": 12345678901234567890},"stepId":"s1"}', '5s']);

    expect(await cli.run(['run', 'close'])).toMatchObject({ status: 0, out: [`${runId} is closed`] });
    expect(json((await cli.run(['run', 'close', '--json'])).out)).toEqual({ runId, closed: true });
    expect(await store.runs.find(runId)).toMatchObject({ closed: true, permissions: ['orders:read', 'mail:send'] });
  });

  it('opens a run with limits and restrictions, and prints those it got', async () => {
    const restrict = [{ tools: ['mail.*'], allow: 'true', message: 'Anything.' }];
    writeFileSync(path.join(cli.directory, 'restrict.json'), JSON.stringify(restrict));
    const limits = ['--calls', '50', '--mutating', '5', '--destructive', '0', '--cost', '12.5', '--wall-clock', '2h'];
    const open = ['run', 'open', '--user', 'ada', ...limits, '--restrict-file', 'restrict.json'];
    const { status, out } = await cli.run(open);
    expect(status).toBe(0);
    expect(out).toContain('budgets  calls 50, mutating 5, destructive 0, cost 12.5, for 7200 s');
    const opened = json((await cli.run([...open, '--json'])).out);
    expect(opened.budgets).toEqual({ calls: 50, mutating: 5, destructive: 0, cost: 12.5, wallClockSeconds: 7_200 });
    expect(await store.runs.find(opened.runId)).toMatchObject({
      restrictions: restrict,
      budgets: { calls: 50, mutating: 5, destructive: 0, costMicros: 12_500_000 },
    });
  });

  it('tells what of a run is not to be had, with the ceiling', async () => {
    const { status, err } = await cli.run(['run', 'open', '--user', 'ada', '--calls', '5000', '--destructive', '500']);
    expect([status, err.join('\n').split('\n')]).toEqual([
      1,
      [
        'error: /budgets/calls: expected at most 1000, the ceiling of this key; asked for was 5000 (and 1 more). No run was opened.',
        '  /budgets/calls: expected at most 1000, the ceiling of this key, got 5000',
        '  /budgets/destructive: expected at most 100, the ceiling of this key, got 500',
        'next: fix_arguments',
      ],
    ]);
    const ttl = await cli.run(['run', 'open', '--user', 'ada', '--ttl', '1h', '--wall-clock', '2h']);
    expect(ttl.err.join()).toContain('expected at most the ttl, 3600 s; asked for was 7200 s');
  });

  it('lets a run enter a phase, and leave it', async () => {
    const { runId } = json((await cli.run(['run', 'open', '--user', 'ada', '--json'])).out);
    expect(await cli.run(['run', 'phase', runId, 'resolve'])).toEqual({
      ...{ status: 0, err: [], out: [`${runId} is in the phase resolve`] },
    });
    expect(await store.runs.find(runId)).toMatchObject({ phase: 'resolve' });
    expect((await cli.run(['run', 'phase', runId, '--none'])).out).toEqual([`${runId} is in no phase`]);
    expect(json((await cli.run(['run', 'phase', runId, '--none', '--json'])).out)).toEqual({ runId, phase: null });
    await cli.run(['run', 'close', runId]);
    expect(await cli.run(['run', 'phase', runId, 'resolve'])).toMatchObject({
      status: 1,
      err: ['error: This run is closed; it enters no phase any more. Open a new run.\nnext: check_outcome'],
    });
  });

  it('fails when the call failed, and says what to do next', async () => {
    const token = await tokenFor('run_01JD8Q3M1A9S8D7F6G5H4J3K2Z');
    const error = errorObject('outcome_unknown', 'It may or may not have happened.');
    const stop = await answerOn(nats.url, subjects.rpcSubmit, () => ({
      intentId: 'i2',
      tool: 'mail.send',
      status: 'unknown',
      outcome: 'unknown',
      replayed: false,
      data: null,
      error,
    }));
    const { status, out } = await cli.run(['submit', 'mail.send', '{}', '--token', token]);
    await stop();
    expect([status, out.slice(-2)]).toEqual([
      1,
      ['error   outcome_unknown: It may or may not have happened.', 'next    check_outcome'],
    ]);
    const alone = await cli.run(['submit', 'mail.send', '{}', '--token', token]);
    expect(alone).toMatchObject({
      status: 1,
      err: [expect.stringMatching(/Nothing was recorded; the same call can be made again later.\nnext: wait$/)],
    });
  });

  it('says a single problem once', async () => {
    const message = '/user: expected a line of text, 1 to 200 characters.';
    const { status, err } = await cli.run(['run', 'open', '--user', '']);
    expect([status, err.join('\n').split('\n')]).toEqual([1, [`error: ${message}`, 'next: fix_arguments']]);
  });

  it('names every wrong argument, not only the first', async () => {
    const token = await tokenFor('run_01JD8Q3M1A9S8D7F6G5H4J3K2Z');
    const problems = [
      { pointer: '/order_id', expected: 'a string', got: '5' },
      { pointer: '/amount', expected: 'no field of this name', got: '"amount"' },
    ];
    const stop = await answerOn(nats.url, subjects.rpcSubmit, () => {
      throw new Refusal('invalid_arguments', 'The arguments are not right.', { problems });
    });
    const { status, err } = await cli.run(['submit', 'mail.send', '{}', '--token', token]);
    await stop();
    expect([status, err.join('\n').split('\n')]).toEqual([
      1,
      [
        'error: The arguments are not right.',
        '  /order_id: expected a string, got 5',
        '  /amount: expected no field of this name, got "amount"',
        'next: fix_arguments',
      ],
    ]);
  });

  it('lists the tools of a run', async () => {
    const token = await tokenFor('run_01JD8Q3M1A9S8D7F6G5H4J3K2Z');
    const tools = [{ name: 'orders.get', version: 1, effect: 'read', description: 'Reads an order.\nMore.' }];
    const stop = await answerOn(nats.url, subjects.rpcTools, () => ({ tools }));
    const listed = await cli.run(['tools', 'list', '--token', token]);
    const asJson = await cli.run(['tools', 'list', '--token', token, '--json']);
    await stop();
    expect(listed.out).toEqual([
      'TOOL        VERSION  EFFECT  DESCRIPTION',
      'orders.get  1        read    Reads an order.',
    ]);
    expect(json(asJson.out)).toEqual({ tools });
  });

  it('prints the handle of what is too large, and reads it page by page', async () => {
    const items = Array.from({ length: 30 }, (_, n) => ({ id: `ord_${n}` }));
    const p = proposal({ terms: { ...quickTerms, shows: { list: { at: '/items', limit: 20, max: 100 } } } });
    const { intentId, runId } = p;
    const attemptId = ulid();
    await store.door.execute({ intentId, command: { type: 'record', proposal: p, ruling: { allow: true } } });
    await store.door.execute({ intentId, command: { type: 'start_attempt', attemptId } });
    const verdict = { kind: 'executed', data: { items } } as const;
    await store.door.execute({ intentId, command: { type: 'record_verdict', attemptId, verdict, jitter: 0 } });
    const token = ['--token', await tokenFor(runId)];

    const handle = `res_${intentId}`;
    const shown = await cli.run(['intents', 'show', intentId, ...token]);
    expect(shown.out).toContain(`handle  ${handle} (results read ${handle})`);
    const first = await cli.run(['results', 'read', handle, ...token]);
    expect(first).toMatchObject({ status: 0, err: [] });
    expect(first.out[0]).toMatch(/ list at \/items, 30 in all$/);
    expect(first.out.slice(1, -1)).toEqual(items.slice(0, 20).map((item) => JSON.stringify(item)));
    expect(first.out.at(-1)).toBe('next    --cursor 20');
    const rest = await cli.run(['results', 'read', handle, '--cursor', '20', '--limit', '100', '--json', ...token]);
    expect(json(rest.out)).toMatchObject({ data: items.slice(20), nextCursor: null });
    const one = await cli.run(['results', 'read', handle, '--pointer', '/items/3/id', ...token]);
    expect(one.out).toEqual([expect.stringMatching(/ text at \/items\/3\/id, 5 in all$/), '"ord_3"']);

    const nowhere = await cli.run(['results', 'read', handle, '--pointer', '/items/30', ...token]);
    expect([nowhere.status, nowhere.err.join()]).toEqual([
      1,
      expect.stringMatching(/There is nothing at \/items\/30: \/items is a list of 30, from 0 to 29/),
    ]);
    expect((await cli.run(['results', 'read', 'res_1', ...token])).err.join()).toMatch(/There is no such result/);
  });
});
