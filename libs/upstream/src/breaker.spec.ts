import type { Verdict } from '@intendant/intent';
import { monotonic } from '@intendant/runtime';
import { MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { evidenceOf } from './breaker-evidence.js';
import { type UpstreamRequest, Upstreams } from './index.js';

const breaker = { failures: 3, pauseMs: 500 };
const reset = { at: 'request', then: 'reset' } as const;
const status = (code: number) => ({ at: 'request', send: response(code, '{}'), then: 'keep' }) as const;
const mayStart = () => true;

let server: MisbehavingServer;
let upstreams: Upstreams;
beforeEach(async () => {
  server = await MisbehavingServer.start();
  upstreams = new Upstreams(() => null, { breaker });
});
afterEach(async () => {
  await upstreams.close();
  await server.stop();
});

let attempts = 0;
function request(over: Partial<UpstreamRequest> = {}): UpstreamRequest {
  attempts += 1;
  const ids = { key: `k${attempts}`, intentId: `i${attempts}`, attemptId: `a${attempts}`, tenant: 'acme', runId: 'r1' };
  return { tool: toolAt(server.url), args: {}, sandbox: false, ...ids, ...over };
}
const call = (over: Partial<UpstreamRequest> = {}) => upstreams.call(request(over), { mayStart });
const causeOf = (verdict: Verdict) => ('cause' in verdict ? verdict.cause : verdict.kind);

async function open(over: Partial<UpstreamRequest> = {}) {
  server.script(reset, reset, reset);
  for (let i = 0; i < breaker.failures; i += 1) expect(causeOf(await call(over))).toBe('reset_after_send');
}
/** Calls until the pause is over and something is sent again. */
async function afterThePause(over: Partial<UpstreamRequest> = {}) {
  return vi.waitFor(
    async () => {
      const verdict = await call(over);
      expect(causeOf(verdict)).not.toBe('circuit_open');
      return verdict;
    },
    { interval: 10, timeout: 5_000 },
  );
}

describe('an upstream that gave no answer so many times in a row', () => {
  test('is left alone for a while, and the refusal says for how long', async () => {
    await open();
    const refused = await call();
    expect(refused).toMatchObject({ kind: 'not_executed', cause: 'circuit_open', transient: true, sent: false });
    const { retryAfterMs, detail } = refused as Extract<Verdict, { kind: 'not_executed' }>;
    expect(retryAfterMs).toBeGreaterThan(0);
    expect(retryAfterMs).toBeLessThanOrEqual(breaker.pauseMs);
    expect(detail).toMatch(/^misbehaving gave no answer to 3 or more attempts in a row; nothing is sent for \d+ ms$/);
    expect(server.requests).toHaveLength(3);
  });

  test('is asked once after the pause, and by everybody when it answers', async () => {
    await open();
    const since = monotonic();
    expect((await afterThePause()).kind).toBe('executed');
    expect(monotonic() - since).toBeGreaterThan(breaker.pauseMs - 50);
    const verdicts = await Promise.all([call(), call(), call()]);
    expect(verdicts.map(({ kind }) => kind)).toEqual(['executed', 'executed', 'executed']);
  });

  test('lets one attempt try and sends away whoever comes meanwhile, and pauses again when it gets no answer', async () => {
    await open();
    server.script({ at: 'request', then: 'hang' });
    const trying = afterThePause();
    await server.seen(4);
    const since = monotonic();
    expect(await call()).toMatchObject({ cause: 'circuit_open', retryAfterMs: 1_000 });
    expect(monotonic() - since, 'it does not wait for the one that tries').toBeLessThan(1_000);
    server.resetConnections();
    expect(causeOf(await trying)).toBe('reset_after_send');
    expect(await call()).toMatchObject({ cause: 'circuit_open' });
    expect(server.requests).toHaveLength(4);
  });

  test('is not taken for healthy because the attempt that tried was never sent', async () => {
    await open();
    await vi.waitFor(async () => {
      const verdict = await upstreams.call(request(), { mayStart: () => false });
      expect(causeOf(verdict)).toBe('lease_over');
    });
    expect(causeOf(await call())).toBe('circuit_open');
  });

  test('or would have, had it not answered now and then, is not left alone', async () => {
    for (let round = 0; round < 5; round += 1) {
      server.script(reset, reset, status(round % 2 ? 404 : 200));
      for (let i = 0; i < 3; i += 1) await call();
    }
    expect(server.requests).toHaveLength(15);
  });

  test('is left alone as well when all of those ended at once', async () => {
    const hangs = Array.from({ length: 4 }, () => ({ at: 'request', then: 'hang' }) as const);
    server.script(...hangs);
    const running = [call(), call(), call(), call()];
    await server.seen(4);
    server.resetConnections();
    await Promise.all(running);
    expect(causeOf(await call())).toBe('circuit_open');
  });
});

describe('nobody else is left alone with it', () => {
  test('not another upstream of the same process, nor its sandbox', async () => {
    const { upstream } = toolAt(server.url);
    const sandbox = toolAt(server.url, { tool: { sandbox: { ...upstream, name: `${upstream.name} (sandbox)` } } });
    await open({ tool: sandbox });
    expect(causeOf(await call({ tool: sandbox }))).toBe('circuit_open');
    expect(await call({ tool: sandbox, sandbox: true })).toMatchObject({ kind: 'executed' });
    expect(await call({ tool: toolAt(server.url, { upstream: { name: 'other' } }) })).toMatchObject({
      kind: 'executed',
    });
  });

  test('not its lookups, which are how an unknown outcome ends', async () => {
    await open();
    server.script({ at: 'request', send: response(200, '[{"id":"re_1"}]'), then: 'keep' });
    const { attemptId: _, ...question } = request();
    expect(await upstreams.lookup(question)).toEqual({ kind: 'present', data: { id: 're_1' } });
  });
});

describe('what an attempt says about the health of its upstream', () => {
  const unknown = (cause: string): Verdict => ({ kind: 'unknown', cause, detail: '' });
  const notExecuted = (cause: string): Verdict => {
    return { kind: 'not_executed', cause, detail: '', transient: true, retryAfterMs: null };
  };
  const table: readonly (readonly [ReturnType<typeof evidenceOf>, readonly Verdict[]])[] = [
    [
      'failed',
      [
        ...['connect_refused', 'connect_timeout', 'unreachable', 'dns_failed', 'reset_before_send'].map(notExecuted),
        ...['call_timeout', 'reset_after_send', 'answer_cut_short', 'connection_lost'].map(unknown),
        ...['server_exited', 'no_answer'].map(unknown),
        ...['mcp_connect_failed'].map(notExecuted),
        ...['http_500', 'http_502', 'http_503', 'http_504', 'http_522'].map(unknown),
        ...['http_503', 'http_521', 'http_523'].map(notExecuted),
      ],
    ],
    [
      'answered',
      [
        { kind: 'executed', data: null },
        { kind: 'accepted', data: null },
        ...['http_400', 'http_404', 'http_422', 'http_429', 'http_501', 'http_505'].map(notExecuted),
        ...[
          'http_409',
          'http_408',
          'http_302',
          'in_progress',
          'no_receipt',
          'outcome_rule_failed',
          'exit_3',
          'threw',
        ].map(unknown),
        ...['output_invalid', 'of_another_kind'].map(notExecuted),
      ],
    ],
    [
      'none',
      [
        ...['paused', 'tool_not_loaded'].map(notExecuted),
        ...['lease_over', 'request_mapping', 'no_sandbox', 'client_closed', 'aborted_unsent'].map(notExecuted),
        ...['egress_refused', 'credential_unavailable', 'local_resources_exhausted', 'tls_failed'].map(notExecuted),
        ...['adapter_missing', 'not_started'].map(notExecuted),
        unknown('aborted'),
      ],
    ],
  ];
  test.each(table)('%s', (evidence, verdicts) => {
    for (const verdict of verdicts) expect(evidenceOf(verdict), causeOf(verdict)).toBe(evidence);
  });
});
