import { type ErrorCode, errorKinds, errorObject } from '@intendant/contracts';
import { type Meddler, type Reply, startMeddler } from '@intendant/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { Intendant, IntendantError, NoAnswer, NoOutcomeYet } from './index.js';

const codes = Object.keys(errorKinds) as ErrorCode[];
const refusals = codes.filter((code) => errorKinds[code].http >= 400 && errorKinds[code].http < 500);

const json = { 'content-type': 'application/json' };
const refusal = (code: ErrorCode): Reply => ({
  status: errorKinds[code].http,
  headers: json,
  body: JSON.stringify({ error: errorObject(code, 'Refused. Nothing was recorded.') }),
});
const lost: Reply = { status: 502, body: '<html>bad gateway</html>' };
const result = {
  ...{ intentId: '01J9Z3M5V6W7X8Y9Z0A1B2C3D4', runId: 'run_1', stepId: 's1', tool: 'a.b', outcome: 'undecided' },
  ...{ status: 'authorized', replayed: false, data: null, summary: null, handle: null, error: null },
};
const stands: Reply = { status: 202, headers: json, body: JSON.stringify(result) };

const open: Meddler[] = [];
afterEach(() => Promise.all(open.splice(0).map((each) => each.close())));
/** A server that gives these answers, the last of them for ever. */
async function answering(...replies: Reply[]) {
  return between(({ n }) => replies[Math.min(n, replies.length) - 1] ?? lost);
}
async function between(meddle: Parameters<typeof startMeddler>[1]) {
  const meddler = await startMeddler('', meddle);
  open.push(meddler);
  const intendant = new Intendant({ url: meddler.url, serviceKey: 'key' });
  return { meddler, intendant, run: intendant.run({ runId: 'run_1', token: 'token' }) };
}

describe('a call that is refused', () => {
  test.each(refusals)('at once with %s was not recorded', async (code) => {
    const { run, meddler } = await answering(refusal(code));
    const call = run.call('a.b', {});
    await expect(call).rejects.toBeInstanceOf(IntendantError);
    await expect(call).rejects.toMatchObject({ code });
    expect(meddler.seen).toHaveLength(1);
  });

  test.each(refusals)('with %s after an attempt without an answer may have been recorded', async (code) => {
    const { run } = await answering(lost, refusal(code));
    const call = run.call('a.b', {}, { stepId: 's1', wait: 600 });
    await expect(call).rejects.toBeInstanceOf(NoOutcomeYet);
    await expect(call).rejects.toMatchObject({ tool: 'a.b', stepId: 's1', result: null, nextAction: 'check_outcome' });
    await expect(call).rejects.toMatchObject({ cause: { cause: { code } } });
    await expect(call).rejects.not.toThrow(/[Nn]othing was recorded/);
  });

  test.each(refusals)('with %s when it is asked how it stands, was recorded', async (code) => {
    const { run } = await answering(stands, refusal(code));
    const stood = { name: 'NoOutcomeYet', result: { intentId: result.intentId }, cause: { code } };
    await expect(run.call('a.b', {}, { stepId: 's1' })).rejects.toMatchObject(stood);
  });

  test('only for now, after an attempt without an answer, is asked for again', async () => {
    const { run, meddler } = await answering(lost, refusal('rate_limited'), stands);
    expect(await run.call('a.b', {}, { stepId: 's1', wait: 2_000 })).toEqual(result);
    expect(new Set(meddler.seen.slice(0, 3).map(({ body }) => body)).size).toBe(1);
  });

  test('where nothing had listened before, was not recorded', async () => {
    const { run, meddler } = await answering();
    await open.pop()?.close();
    const call = run.call('a.b', {});
    open.push(await startMeddler('', () => refusal('unauthenticated'), Number(new URL(meddler.url).port)));
    await expect(call).rejects.toMatchObject({ name: 'IntendantError', code: 'unauthenticated' });
  });
});

describe('what is refused after an attempt without an answer', () => {
  test('may have been cancelled', async () => {
    const { run } = await answering(lost, refusal('unauthenticated'));
    await expect(run.cancel(result.intentId)).rejects.toBeInstanceOf(NoAnswer);
  });

  test('may have been opened, or closed', async () => {
    const { intendant, run } = await answering(lost, refusal('unauthenticated'), lost, refusal('unauthenticated'));
    const opening = intendant.openRun({ user: 'ada', permissions: [], profile: 'batch' });
    await expect(opening).rejects.toBeInstanceOf(NoAnswer);
    await expect(run.close()).rejects.toBeInstanceOf(NoAnswer);
  });

  test('was not there to be read', async () => {
    const { run } = await answering(lost, refusal('not_found'));
    await expect(run.intent(result.intentId)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('keeps how it stood after it was cancelled', async () => {
    const { run } = await answering(stands, refusal('unauthenticated'));
    const cancelled = run.cancel(result.intentId, { wait: 5_000 });
    await expect(cancelled).rejects.toMatchObject({ name: 'NoOutcomeYet', result: { intentId: result.intentId } });
  });
});

describe('an answer of somebody in between', () => {
  const made: Reply[] = [
    ...['', 'ok', '{}', 'null', '[]', '"ok"', '{"status":"ok"}', '{"intentId":null}'],
    ...['{"error":null}', '{"error":{}}', '{"error":"busy"}', '<html></html>'],
  ].flatMap((body) => [200, 204, 401, 429].map((status) => ({ status, headers: json, body })));

  test('is no outcome and no refusal', async () => {
    const calls = made.map(async (reply) => {
      const { run } = await answering(reply, stands);
      return [reply, await run.call('a.b', {}, { stepId: 's1', wait: 2_000 })];
    });
    expect(await Promise.all(calls)).toEqual(made.map((reply) => [reply, result]));
  });

  test('is no answer to any other question', async () => {
    const answers = {
      '/v1/runs': { runId: 'run_1', token: 'token', expiresAt: '2030-01-01T00:00:00Z' },
      '/v1/tools': { tools: [{ name: 'a.b' }] },
      '/v1/results/res_1': { handle: 'res_1', kind: 'value', data: 1 },
    };
    const asked = made.map(async (reply) => {
      const { intendant } = await between(({ n, url }) => {
        const body = JSON.stringify(answers[url as keyof typeof answers]);
        return n % 2 === 1 ? reply : { status: 200, headers: json, body };
      });
      const run = await intendant.openRun({ user: 'ada', permissions: [], profile: 'batch' });
      return [reply, run.opened, { tools: await run.tools() }, await run.result('res_1')];
    });
    expect(await Promise.all(asked)).toEqual(made.map((reply) => [reply, ...Object.values(answers)]));
  });
});
