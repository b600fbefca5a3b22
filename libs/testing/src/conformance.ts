import type { ToolDefinition } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import type { CallOptions, UpstreamRequest } from '@intendant/upstream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ConformanceHarness, secrets, toolOf } from './conformance-harness.js';
import type { Conduct } from './scripted-upstream.js';

/**
 * What every adapter must keep to, whatever it speaks: run it against each real one and against the fake. The upstream's
 * own ledger judges, never the adapter.
 */
export function describeConformance(name: string, start: () => Promise<ConformanceHarness>): void {
  let harness: ConformanceHarness;
  let requests: number;

  beforeEach(async () => {
    harness = await start();
    requests = 0;
  });
  afterEach(async () => {
    const { calls } = harness.script;
    harness.script.release();
    await harness.adapter.close();
    await harness.atRest();
    await harness.stop();
    expect(new Set(calls.map(({ attemptId }) => attemptId)).size, 'one request per attempt id').toBe(calls.length);
  });

  const here = (changes: Partial<ToolDefinition> = {}, limits: Partial<ToolDefinition['limits']> = {}) =>
    toolOf(harness.real, { sandbox: harness.sandbox, ...changes }, limits);
  const hasty = (changes: Partial<ToolDefinition> = {}) => here(changes, { callMs: harness.timeoutMs });
  const request = (tool: ToolDefinition, changes: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
    tool,
    args: { order: 'o1' },
    key: 'key-1',
    intentId: 'intent-1',
    tenant: 't',
    runId: 'run_1',
    attemptId: `attempt-${++requests}`,
    sandbox: false,
    ...changes,
  });
  const call = (tool: ToolDefinition, changes: Partial<UpstreamRequest> = {}, options: Partial<CallOptions> = {}) =>
    harness.adapter.call(request(tool, changes), { mayStart: () => true, ...options });
  const lookup = (tool: ToolDefinition, changes: Partial<UpstreamRequest> = {}, signal?: AbortSignal) =>
    harness.adapter.lookup(request(tool, changes), signal && { signal });
  const poll = (tool: ToolDefinition, changes: Partial<UpstreamRequest> = {}) =>
    harness.adapter.poll({ ...request(tool, changes), accepted: { operation: 'op-key-1' } });
  const conduct = (given: Partial<Conduct>) => harness.script.behave(given);
  const effects = () => harness.script.effects.length;
  const read = { effect: 'read' } as const;

  describe(`${name}: a call`, () => {
    test('that is executed and answered gives its receipt, after one request with key, attempt id and arguments', async () => {
      expect(await call(here())).toEqual({ kind: 'executed', data: { id: 'effect-1', key: 'key-1' } });
      expect(harness.script.calls).toMatchObject([
        { key: 'key-1', attemptId: 'attempt-1', args: { order: 'o1' }, sandbox: false },
      ]);
      expect(effects()).toBe(1);
    });

    test('brings every argument as it is, whatever its characters mean to others', async () => {
      const args: JsonObject = {
        order: '$(touch /tmp/x) `id` "quoted" \'single\' {{key}} ${HOME} \n --help ; rm -rf * & | \u2028 \\ ü€😀',
        nested: { list: [1, 2.5, true, null, ''], __proto__x: {} },
      };
      expect(await call(here(), { args })).toMatchObject({ kind: 'executed' });
      expect(harness.script.calls.map((seen) => seen.args)).toEqual([args]);
    });

    test('that is executed and answered with something that is no receipt is unknown, and a read fails', async () => {
      conduct({ call: 'useless' });
      expect(await call(here())).toMatchObject({ kind: 'unknown', cause: 'no_receipt' });
      expect(effects()).toBe(1);
      expect(await call(here(read))).toMatchObject({ kind: 'not_executed', cause: 'output_invalid', transient: false });
    });

    test('that is executed and answered with something that is no data is unknown', async () => {
      conduct({ call: 'garbage' });
      expect(await call(here())).toMatchObject({ kind: 'unknown', cause: 'no_receipt' });
      expect(effects()).toBe(1);
    });

    test('that is executed and answered with too much is unknown, and a read fails', async () => {
      conduct({ call: 'too_large' });
      expect(await call(here())).toMatchObject({ kind: 'unknown', cause: 'response_too_large' });
      expect(effects()).toBe(1);
      expect(await call(here(read))).toMatchObject({ kind: 'not_executed', cause: 'output_invalid' });
    });

    test('that is refused was not executed', async () => {
      conduct({ call: 'refuse' });
      expect(await call(here())).toMatchObject({ kind: 'not_executed' });
      expect(harness.script.calls).toHaveLength(1);
      expect(effects()).toBe(0);
    });

    test('that is accepted gives what the upstream said about it', async () => {
      conduct({ call: 'accept' });
      expect(await call(here())).toEqual({ kind: 'accepted', data: { operation: 'op-key-1' } });
      expect(effects()).toBe(0);
    });

    test('that is answered too late is unknown although it was executed, and the late answer disturbs nothing', async () => {
      conduct({ call: 'hold' });
      expect(await call(hasty())).toMatchObject({ kind: 'unknown', cause: 'call_timeout' });
      expect(effects()).toBe(1);
      harness.script.release();
      await harness.atRest();
      conduct({});
      expect(await call(here(), { key: 'key-2' })).toMatchObject({ kind: 'executed', data: { key: 'key-2' } });
    });

    test('whose upstream is gone after it executed is unknown', async () => {
      conduct({ call: 'die' });
      expect(await call(here())).toMatchObject({ kind: 'unknown' });
      expect(effects()).toBe(1);
      expect(harness.script.calls).toHaveLength(1);
    });

    test('whose upstream is gone before it executed is unknown too: the caller cannot see the difference', async () => {
      conduct({ call: 'die_early' });
      expect(await call(here())).toMatchObject({ kind: 'unknown' });
      expect(effects()).toBe(0);
      expect(harness.script.calls).toHaveLength(1);
    });

    test('that never reached the upstream was not executed, was not even sent, and may succeed later', async () => {
      const onSend = () => expect.unreachable();
      const verdict = await call(here({ upstream: harness.unreachable }), {}, { onSend });
      expect(verdict).toMatchObject({ kind: 'not_executed', transient: true, sent: false });
      expect(harness.script.calls).toEqual([]);
    });

    test('that was given up before it began is not sent', async () => {
      const verdict = await call(here(), {}, { signal: AbortSignal.abort() });
      expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'aborted_unsent', sent: false });
      expect(harness.script.calls).toEqual([]);
    });

    test('that is given up after it was sent is unknown at once, and its work is ended', async () => {
      conduct({ call: 'hang' });
      const controller = new AbortController();
      const pending = call(here({}, { callMs: 60_000 }), {}, { signal: controller.signal });
      await harness.script.arrived(1);
      controller.abort();
      expect(await pending).toMatchObject({ kind: 'unknown', cause: 'aborted' });
      await harness.atRest();
    });

    test('asks once whether it may start, and tells once that it was sent', async () => {
      const order: string[] = [];
      const mayStart = () => order.push('may start') > 0;
      const onSend = () => {
        order.push('send');
        throw new Error('a listener that fails disturbs nothing');
      };
      expect(await call(here(), {}, { mayStart, onSend })).toMatchObject({ kind: 'executed' });
      expect(order).toEqual(['may start', 'send']);
    });

    test('that may not start, or whose lease cannot be checked, is not sent', async () => {
      const onSend = () => expect.unreachable();
      const mayStart = () => {
        throw new Error('no clock');
      };
      const expected = { kind: 'not_executed', cause: 'lease_over', transient: true, sent: false };
      expect(await call(here(), {}, { mayStart: () => false, onSend })).toMatchObject(expected);
      expect(await call(here(), {}, { mayStart, onSend })).toMatchObject(expected);
      expect(harness.script.calls).toEqual([]);
    });

    test('with the key of an earlier one is a request of its own and has one effect with it', async () => {
      const first = await call(here());
      expect(await call(here())).toEqual(first);
      expect(harness.script.calls.map(({ attemptId }) => attemptId)).toEqual(['attempt-1', 'attempt-2']);
      expect(effects()).toBe(1);
    });

    test('gets its own answer when others are under way', async () => {
      const keys = ['a', 'b', 'c', 'd'];
      const verdicts = await Promise.all(keys.map((key) => call(here(), { key })));
      expect(verdicts).toMatchObject(keys.map((key) => ({ kind: 'executed', data: { key } })));
      expect(effects()).toBe(4);
    });

    test('that is under way when the adapter closes is waited for; a later one is not sent', async () => {
      conduct({ call: 'hold' });
      const running = call(here());
      await harness.script.arrived(1);
      const closed = harness.adapter.close();
      expect(await call(here(), { key: 'late' })).toMatchObject({
        kind: 'not_executed',
        cause: 'client_closed',
        transient: true,
        sent: false,
      });
      harness.script.release();
      expect(await running).toMatchObject({ kind: 'executed', data: { key: 'key-1' } });
      await closed;
      expect(harness.script.calls).toHaveLength(1);
      expect(await lookup(here())).toMatchObject({ kind: 'cannot_tell' });
      expect(await poll(here())).toMatchObject({ kind: 'pending' });
    });
  });

  describe(`${name}: sandbox and credential`, () => {
    test('a sandbox call goes to the sandbox, with its credential, and is no effect of the real thing', async () => {
      expect(await call(here(), { sandbox: true })).toMatchObject({ kind: 'executed' });
      expect(harness.script.calls).toMatchObject([
        { sandbox: true, credential: secrets['conformance_sandbox'], key: 'key-1' },
      ]);
      expect(await lookup(here(), { sandbox: true })).toMatchObject({ kind: 'present' });
      expect(await lookup(here())).toEqual({ kind: 'absent' });
    });

    test('a sandbox call of a tool without a sandbox goes nowhere', async () => {
      const tool = here({ sandbox: null });
      expect(await call(tool, { sandbox: true })).toMatchObject({
        kind: 'not_executed',
        cause: 'no_sandbox',
        transient: false,
        sent: false,
      });
      expect(await lookup(tool, { sandbox: true })).toMatchObject({ kind: 'cannot_tell' });
      expect(await poll(tool, { sandbox: true })).toMatchObject({ kind: 'pending' });
      expect(harness.script.calls).toEqual([]);
      expect(harness.script.questions).toEqual([]);
    });

    test('the credential comes with the call, the lookup and the poll, and in no answer', async () => {
      conduct({ poll: 'done' });
      const answers = [await call(here()), await lookup(here()), await poll(here())];
      const { calls, questions } = harness.script;
      expect([...calls, ...questions].map(({ credential }) => credential)).toEqual(
        Array(3).fill(secrets['conformance']),
      );
      expect(JSON.stringify([answers, calls.map(({ args, key }) => ({ args, key }))])).not.toContain('secret-of');
    });

    test('nothing comes where no credential is named', async () => {
      const tool = here({ upstream: { ...harness.real, credential: null } });
      expect(await call(tool)).toMatchObject({ kind: 'executed' });
      expect(await lookup(tool)).toMatchObject({ kind: 'present' });
      const { calls, questions } = harness.script;
      expect([...calls, ...questions].map(({ credential }) => credential)).toEqual([null, null]);
    });
  });

  describe(`${name}: a lookup`, () => {
    test('finds an effect with its receipt, under its key only, and is no call', async () => {
      await call(here());
      expect(await lookup(here())).toEqual({ kind: 'present', data: { id: 'effect-1', key: 'key-1' } });
      expect(await lookup(here(), { key: 'key-2' })).toEqual({ kind: 'absent' });
      expect(harness.script.calls).toHaveLength(1);
      expect(harness.script.questions).toMatchObject([
        { about: 'lookup', key: 'key-1', sandbox: false },
        { about: 'lookup', key: 'key-2', sandbox: false },
      ]);
    });

    test('finds what a call whose answer was lost has done', async () => {
      conduct({ call: 'die' });
      expect(await call(here())).toMatchObject({ kind: 'unknown' });
      expect(await lookup(here())).toMatchObject({ kind: 'present', data: { id: 'effect-1' } });
    });

    test('that fails, shows no receipt, or reaches nobody cannot tell', async () => {
      for (const behaviour of ['error', 'useless'] as const) {
        conduct({ lookup: behaviour });
        expect(await lookup(here()), behaviour).toMatchObject({ kind: 'cannot_tell' });
      }
      expect(await lookup(here({ upstream: harness.unreachable }))).toMatchObject({ kind: 'cannot_tell' });
    });

    test('that is not answered, or is given up, cannot tell', async () => {
      conduct({ lookup: 'hang' });
      expect(await lookup(hasty())).toMatchObject({ kind: 'cannot_tell' });
      expect(await lookup(here(), {}, AbortSignal.timeout(50))).toMatchObject({ kind: 'cannot_tell' });
      expect(await lookup(here(), {}, AbortSignal.abort())).toMatchObject({ kind: 'cannot_tell' });
      await harness.atRest();
    });

    test('of a tool that has none cannot tell', async () => {
      const upstream = { ...harness.real, lookup: null };
      expect(await lookup(here({ upstream }))).toMatchObject({ kind: 'cannot_tell' });
      expect(harness.script.questions).toEqual([]);
    });
  });

  describe(`${name}: a poll`, () => {
    test('says what became of an accepted request, and asks with what the upstream answered', async () => {
      expect(await poll(here())).toMatchObject({ kind: 'pending' });
      conduct({ poll: 'failed' });
      expect(await poll(here())).toMatchObject({ kind: 'failed' });
      conduct({ poll: 'done' });
      expect(await poll(here())).toEqual({ kind: 'executed', data: { id: 'effect-1', key: 'key-1' } });
      expect(harness.script.questions).toMatchObject(
        Array(3).fill({ about: 'poll', key: 'key-1', accepted: { operation: 'op-key-1' } }),
      );
      expect(harness.script.calls).toEqual([]);
    });

    test('that fails, shows no receipt, is not answered or reaches nobody leaves the request pending', async () => {
      for (const behaviour of ['error', 'useless', 'hang'] as const) {
        conduct({ poll: behaviour });
        expect(await poll(hasty()), behaviour).toMatchObject({ kind: 'pending' });
      }
      expect(await poll(here({ upstream: harness.unreachable }))).toMatchObject({ kind: 'pending' });
    });

    test('of a tool that has none leaves the request pending', async () => {
      const upstream = { ...harness.real, poll: null };
      expect(await poll(here({ upstream }))).toMatchObject({ kind: 'pending' });
      expect(harness.script.questions).toEqual([]);
    });
  });
}
