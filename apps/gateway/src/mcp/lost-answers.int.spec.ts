import type { RpcRequest } from '@intendant/bus';
import { Refusal, subjects } from '@intendant/contracts';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerOn, environment, startGateway, type TestGateway, tokenFor } from '../gateway.spec-helper.js';

const runId = 'run_01JD8Q3M1A9S8D7F6G5H4J3K2Z';
const recorded = {
  ...{ intentId: '01JD8Q4Y6V2N7XK3T5W9ZB1CEF', runId, stepId: null, tool: 'mail.send', status: 'committed' },
  ...{ outcome: 'executed', replayed: true, data: {}, summary: null, handle: null, error: null },
};
const never = new Promise<never>(() => undefined);
const refuse = (...of: ConstructorParameters<typeof Refusal>) => {
  throw new Refusal(...of);
};

const over = () => refuse('conflict', 'The same call was made before and is over.', { after: recorded.intentId });

/** What a policy service says, each time it is asked about a call; the last for ever. */
const scripts: Record<string, (() => unknown)[]> = {
  recorded: [() => recorded],
  silent: [() => never],
  silentOnce: [() => never, () => recorded],
  unsure: [() => refuse('unavailable', 'The store did not answer.')],
  unsureOnce: [() => refuse('unavailable', 'The store did not answer.'), () => recorded],
  broken: [
    () => {
      throw new Error('a bug');
    },
  ],
  brokenOnce: [() => refuse('internal', 'It failed.'), () => recorded],
  // Whoever has not answered yet may still record it, whatever another one says meanwhile.
  refusedAfterwards: [() => never, () => refuse('rate_limited', 'Too many calls.')],
  expiredAfterwards: [
    () => refuse('unavailable', 'The store did not answer.'),
    () => refuse('unauthenticated', 'Over.'),
  ],
  silentThenOver: [() => never, () => over(), () => recorded],
  overThenSilent: [() => over(), () => never, () => recorded],
  overAndSilent: [() => over(), () => never],
  refused: [() => refuse('rate_limited', 'Too many calls.')],
  overloaded: [() => refuse('unavailable', 'Too much is waiting.', { recorded: false })],
};

describe('a call over MCP whose submit gets no answer', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let token: string;
  let stop: () => Promise<void>;
  const asked: Record<string, RpcRequest[]> = {};

  async function call(script: string, stepId?: string) {
    const params = {
      name: 'mail.send',
      arguments: { script },
      _meta: { ...(stepId && { 'intendant/stepId': stepId }) },
    };
    const response = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ accept: 'application/json, text/event-stream', 'content-type': 'application/json', prefer: 'wait=0' },
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    const text = await response.text();
    return JSON.parse(text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? 'null'));
  }

  const answering = () =>
    answerOn(nats.url, subjects.rpcSubmit, (request) => {
      const { args, stepId = '' } = JSON.parse(Buffer.from(request.payload).toString());
      const requests = [...(asked[args.script + stepId] ?? []), request];
      asked[args.script + stepId] = requests;
      const script = scripts[args.script] ?? [];
      return (script[requests.length - 1] ?? script.at(-1))?.();
    });

  beforeAll(async () => {
    [nats, database, token] = await Promise.all([startNats(), createDatabase(), tokenFor(runId)]);
    gateway = await startGateway(environment(database.url, nats.url));
    const store = await Store.open({ url: database.url, name: 'mcp-spec' });
    const run = { id: runId, tenant: 'acme', user: 'ada', permissions: [], phase: null, profile: 'batch' } as const;
    const budgets = { calls: null, mutating: null, destructive: null, costMicros: null, wallClockMs: null };
    await store.runs.open({ ...run, openedBy: 'spec', budgets }, 60_000);
    await store.close();
  });
  afterAll(async () => {
    // What never answers would be waited for.
    void stop();
    await gateway?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
  });

  it('is an error where nobody was there to record it, and is heard by whoever comes in time', async () => {
    const nobody = await call('nobody');
    expect(nobody.result).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'unavailable', retryable: true, details: { recorded: false } } },
    });
    expect(nobody.result.content[0].text).toMatch(/nothing was recorded/i);
    const late = call('recorded');
    stop = await answering();
    expect((await late).result).toMatchObject({ isError: false, structuredContent: { status: 'committed' } });
  });

  it.concurrent('is asked about again, the same, and answered as soon as there is an answer', async () => {
    const answers = await Promise.all(['silentOnce', 'unsureOnce', 'brokenOnce'].map((script) => call(script, 's1')));
    for (const { result } of answers) {
      expect(result).toMatchObject({ isError: false, structuredContent: { status: 'committed', outcome: 'executed' } });
    }
    for (const requests of [asked['silentOnces1'], asked['unsureOnces1'], asked['brokenOnces1']]) {
      const [first, second, ...more] = (requests ?? []).map(({ payload }) => Buffer.from(payload).toString());
      expect(second).toBe(first);
      expect(more).toEqual([]);
    }
  });

  it.concurrent('is never said to have failed while nobody knows: it may happen, and is not to be made again', async () => {
    const unclear = ['silent', 'unsure', 'broken', 'refusedAfterwards', 'expiredAfterwards'];
    const answers = await Promise.all(unclear.flatMap((script) => [call(script), call(script, `step-of-${script}`)]));
    for (const { result } of answers) {
      expect(result).toMatchObject({
        isError: false,
        structuredContent: {
          outcome: 'unknown',
          error: { code: 'outcome_unknown', retryable: false, nextAction: 'ask_human', details: { runId } },
        },
      });
      const [{ text }] = result.content;
      expect(text).toMatch(/^Nobody knows whether mail\.send was recorded.*may.*happen.*Do not make this call again/s);
      expect(text).toContain(runId);
      expect(text).not.toMatch(/safe|retry/);
    }
    expect(answers.at(-1).result.content[0].text).toContain('step-of-expiredAfterwards');
  });

  it.concurrent('is made again after the one that was over, once, however often it has to be asked', async () => {
    const scripts = ['silentThenOver', 'overThenSilent', 'overAndSilent'];
    const [one, other, unclear] = await Promise.all(scripts.map((script) => call(script)));
    for (const { result } of [one, other]) {
      expect(result).toMatchObject({ isError: false, structuredContent: { status: 'committed' } });
    }
    expect(unclear.result).toMatchObject({ isError: false, structuredContent: { outcome: 'unknown' } });
    const after = (requests: readonly RpcRequest[] = []) =>
      requests.map(({ headers }) => headers.get('Intendant-After'));
    const { intentId } = recorded;
    expect(after(asked['silentThenOver'])).toEqual(['none', 'none', intentId]);
    expect(after(asked['overThenSilent'])).toEqual(['none', intentId, intentId]);
    expect(new Set(after(asked['overAndSilent']).slice(1))).toEqual(new Set([intentId]));
  });

  it.concurrent('is an error where it is certain that nothing was recorded', async () => {
    const refused = await call('refused');
    expect(refused.result).toMatchObject({ isError: true, structuredContent: { error: { code: 'rate_limited' } } });
    expect(asked['refused']).toHaveLength(1);
    const overloaded = await call('overloaded');
    expect(overloaded.result).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'unavailable', details: { recorded: false } } },
    });
  });
});
