import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorObject, subjects } from '@intendant/contracts';
import type { Command } from '@intendant/intent';
import { Store } from '@intendant/store';
import {
  createDatabase,
  type NatsServer,
  proposal,
  quickTerms,
  startNats,
  type TestDatabase,
} from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../../apps/cli/src/cli.spec-helper.js';
import {
  answerOn,
  environment,
  keys,
  startGateway,
  type TestGateway,
} from '../../apps/gateway/src/gateway.spec-helper.js';

describe('the command line of an operator', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let store: Store;
  let cli: ReturnType<typeof commandLine>;
  const json = (lines: readonly string[]) => JSON.parse(lines.join('\n'));

  const record = async (over: Parameters<typeof proposal>[0] = {}) => {
    const p = proposal(over);
    await store.door.execute({
      intentId: p.intentId,
      command: { type: 'record', proposal: p, ruling: { allow: true } },
    });
    return p;
  };
  const change = (intentId: string, command: Command) => store.door.execute({ intentId, command });
  const lose = async (intentId: string) => {
    await change(intentId, { type: 'start_attempt', attemptId: 'a' });
    const verdict = { kind: 'unknown', cause: 'reset_after_send', detail: 'reset' } as const;
    await change(intentId, { type: 'record_verdict', attemptId: 'a', verdict, jitter: 0 });
  };
  const noWayToTell = { ...quickTerms, guarantee: 'none', lookup: 'none', settleMs: 0, deadlineMs: 0 } as const;
  const dead = async () => {
    const { intentId } = await record({ terms: noWayToTell });
    await lose(intentId);
    return intentId;
  };

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), createDatabase()]);
    gateway = await startGateway(environment(database.url, nats.url));
    store = await Store.open({ url: database.url, name: 'spec' });
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
    await gateway?.close();
    await store?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
    cli?.remove();
  });

  it('lists intents as a table, by page, or as JSON', async () => {
    const { runId } = await record();
    await record({ runId, tool: 'mail.send' });
    const { out, err } = await cli.run(['intents', 'list', '--run', runId, '--limit', '1']);
    expect(out[0]).toMatch(/^INTENT +STATUS +TOOL +EFFECT +ATTEMPTS +REASON +SINCE$/);
    expect(out[1]).toMatch(/authorized +mail.send +destructive +0 +admitted/);
    expect(err[0]).toMatch(/^more: --cursor \w{26}$/);
    const all = json((await cli.run(['intents', 'list', '--run', runId, '--json'])).out);
    expect([all.items.length, all.nextCursor]).toEqual([2, null]);
    expect((await cli.run(['intents', 'list', '--state', 'expired'])).out).toEqual(['no intents']);
    expect(await cli.run(['intents', 'list', '--state', 'done'])).toMatchObject({
      status: 1,
      err: [expect.stringMatching(/expected one of .*\nnext: fix_arguments/)],
    });
  });

  it('shows an intent with its timeline, without letting its text move the cursor', async () => {
    const { intentId } = await record({
      args: { note: 'x\u001b[31m' },
      user: 'a\u001b[2Jda',
      dropped: [{ pointer: '/user_id', type: 'string' }],
    });
    const { status, out } = await cli.run(['intents', 'show', intentId]);
    expect(status).toBe(0);
    expect(out.join('\n')).toMatch(
      /authorized \(undecided\)[\s\S]*recorded +payments.refund.create[\s\S]*dropped=\["\/user_id"\][\s\S]*authorized +basis=admitted/,
    );
    expect(out.join('')).not.toContain('\u001b');
    expect(json((await cli.run(['intents', 'show', intentId, '--json'])).out)).toMatchObject({
      result: { intentId },
      events: [{ type: 'recorded' }, {}],
    });
  });

  it('shows until when an intent may safely be sent again', async () => {
    const { intentId } = await record({ terms: { ...quickTerms, guarantee: 'idempotency_key', retentionMs: 60_000 } });
    await change(intentId, { type: 'start_attempt', attemptId: 'a' });
    const { out } = await cli.run(['intents', 'show', intentId]);
    expect(out.join('\n')).toMatch(/^resend {2}safe until \d{4}-\d\d-\d\dT[\d:.]+Z$/m);
  });

  it('follows an intent until it is settled', async () => {
    const { intentId } = await record();
    const watching = cli.run(['intents', 'watch', intentId, '--json']);
    await change(intentId, { type: 'start_attempt', attemptId: 'a' });
    await change(intentId, {
      type: 'record_verdict',
      attemptId: 'a',
      verdict: { kind: 'executed', data: {} },
      jitter: 0,
    });
    const { status, out } = await watching;
    expect([status, out.map((line) => JSON.parse(line).type)]).toEqual([
      0,
      ['recorded', 'authorized', 'attempt_started', 'committed'],
    ]);
  });

  it('cancels what was not sent, and says what it does not know about the rest', async () => {
    const { intentId } = await record();
    expect(await cli.run(['intents', 'cancel', intentId])).toMatchObject({ status: 0, err: [] });
    expect((await store.intents.load(intentId))?.state).toBe('cancelled');
    const { intentId: sent } = await record();
    await change(sent, { type: 'start_attempt', attemptId: 'a' });
    expect(await cli.run(['intents', 'cancel', sent, '--wait', '0'])).toMatchObject({
      status: 1,
      err: [expect.stringContaining('not known yet whether it happened')],
    });
    const ended = cli.run(['intents', 'cancel', sent]);
    await change(sent, {
      type: 'record_verdict',
      attemptId: 'a',
      verdict: {
        kind: 'not_executed',
        cause: 'aborted_unsent',
        transient: true,
        retryAfterMs: null,
        detail: '',
        sent: false,
      },
      jitter: 0,
    });
    expect(await ended).toMatchObject({ status: 0, err: [] });
  });

  it('lists, shows, refuses to replay and resolves a dead letter', async () => {
    const id = await dead();
    await store.deadMessages.keep(
      { subject: subjects.intents('acme'), payload: Buffer.from('not json'), credential: '' },
      null,
      errorObject('invalid_message', 'Not JSON.'),
    );
    const { out } = await cli.run(['dead-letters', 'list']);
    expect(out.join('\n')).toMatch(
      new RegExp(`${id} +dead_lettered[\\s\\S]*MESSAGE +ERROR[\\s\\S]*invalid_message +intendant.intents.acme +-`),
    );
    const { messages } = json((await cli.run(['dead-letters', 'list', '--json'])).out);
    expect((await cli.run(['dead-letters', 'show', messages[0].id])).out.join('\n')).toMatch(
      /payload {2}8 bytes: not json\n\nreplay +not possible: Nobody/,
    );
    expect((await cli.run(['dead-letters', 'show', id])).out.join('\n')).toMatch(
      /dead_lettered[\s\S]*replay +not possible[\s\S]*resolve executed +possible/,
    );
    expect(await cli.run(['dead-letters', 'replay', id, '--reason', 'r'])).toMatchObject({
      status: 1,
      err: [expect.stringContaining('resolve it with evidence')],
    });
    const resolve = () => cli.run(['intents', 'resolve', id, '--outcome', 'not_executed', '--evidence', 'no ticket']);
    const resolved = await resolve();
    expect(await resolve()).toEqual(resolved);
    expect(resolved).toMatchObject({
      status: 0,
      out: [
        expect.stringContaining('failed (not_executed)'),
        expect.any(String),
        expect.any(String),
        expect.any(String),
      ],
    });
  });

  it('dismisses a dead message, and says the same when it is dismissed again', async () => {
    await store.deadMessages.keep(
      { subject: subjects.intents('acme'), payload: Buffer.from('a probe'), credential: '' },
      null,
      errorObject('invalid_message', 'Not JSON.'),
    );
    const id = json((await cli.run(['dead-letters', 'list', '--json'])).out).messages[0].id;
    expect((await cli.run(['dead-letters', 'show', id])).out.join('\n')).toMatch(/\ndismiss +possible/);
    const dismiss = (of: string) => cli.run(['dead-letters', 'dismiss', of, '--reason', 'a probe']);
    const first = await dismiss(id);
    expect(first).toMatchObject({
      status: 0,
      out: [expect.stringMatching(`^message ${id} was dismissed by olga at .*: a probe$`)],
    });
    expect(await dismiss(id)).toEqual(first);
    expect((await cli.run(['dead-letters', 'list'])).out.join('\n')).not.toContain(id);
    expect((await cli.run(['dead-letters', 'show', id])).out.join('\n')).toMatch(
      /\ndismiss +not possible: olga dismissed/,
    );
    expect(await dismiss(await dead())).toMatchObject({
      status: 1,
      err: [expect.stringContaining('resolve it with evidence instead')],
    });
  });

  it('replays a dead letter that can be reconciled', async () => {
    const { intentId } = await record({ terms: { ...quickTerms, settleMs: 0, deadlineMs: 0 } });
    await lose(intentId);
    await change(intentId, {
      type: 'record_lookup',
      answer: { kind: 'cannot_tell', detail: '503' },
      askedAt: Date.now() + 60_000,
    });
    expect(await cli.run(['dead-letters', 'replay', intentId, '--reason', 'back'])).toMatchObject({
      status: 0,
      out: [`intent ${intentId} is unknown now`],
    });
  });

  it('has the running services reconcile', async () => {
    const stop = await answerOn(nats.url, subjects.rpcReconcile, () => ({ expire: { found: 0 } }));
    expect(await cli.run(['reconcile'])).toMatchObject({ status: 0, out: ['{"expire":{"found":0}}'] });
    await stop();
  });
});
