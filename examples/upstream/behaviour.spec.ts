import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { probe, REFUND, WAIT_MS } from './probe.js';
import { startUpstream, type Then, type Upstream } from './server.js';

let upstream: Upstream;
const { post, get, wire, effects } = probe(() => upstream);

beforeEach(async () => {
  upstream = await startUpstream();
});

afterEach(() => upstream.close());

describe('an answer that goes wrong', () => {
  const endings: readonly [Then, RegExp, string | null][] = [
    ['close', /^$/, null],
    ['reset', /^$/, 'ECONNRESET'],
    ['reset_after_status', /^HTTP\/1.1 201 .*\{$/s, 'ECONNRESET'],
    ['cut', /Connection: close\r\n\r\n\{"id":$/, null],
    ['garbage', /not HTTP/, null],
  ];
  for (const [then, text, error] of endings) {
    for (const commit of [true, false]) {
      it(`ends with ${then} ${commit ? 'after' : 'without'} the effect`, async () => {
        upstream.behave({ match: { path: '/refunds' }, behaviour: { commit, then } });
        const answer = await wire('/refunds', REFUND, 'k1');
        expect(answer.text).toMatch(text);
        expect(answer.error).toBe(error);
        expect(effects('k1')).toBe(commit ? 1 : 0);
      });
    }
  }

  it('ends a whole answer with the connection when it is delimited by that', async () => {
    upstream.behave({ match: {}, behaviour: { then: 'close_delimited' } });
    const { text, error } = await wire('/refunds', REFUND, 'k1');
    expect(error).toBeNull();
    expect(text).not.toContain('Content-Length');
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ refund_id: 're_1' });
  });

  it('promises more bytes than it sends when truncated', async () => {
    upstream.behave({ match: {}, behaviour: { then: 'truncated' } });
    const { text } = await wire('/refunds', REFUND, 'k1');
    const [head, body] = text.split('\r\n\r\n');
    const promised = Number(/Content-Length: (\d+)/.exec(head ?? '')?.[1]);
    expect(promised).toBeGreaterThan((body ?? '').length);
  });

  it('answers nothing while it hangs, though the effect is there', async () => {
    upstream.behave({ match: {}, behaviour: { then: 'hang' } });
    let ended = false;
    const answer = wire('/refunds', REFUND, 'k1').finally(() => {
      ended = true;
    });
    await upstream.waitForEffect({ key: 'k1' }, WAIT_MS);
    await get('/refunds?key=k1');
    expect(ended).toBe(false);
    await upstream.close();
    expect((await answer).text).toBe('');
  });

  it('answers with the ordered status and headers', async () => {
    const behaviour = { commit: false, then: 'status:429', headers: { 'retry-after': '7' } } as const;
    upstream.behave({ match: {}, behaviour });
    const answer = await post('/refunds', REFUND, 'k1');
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(effects('k1')).toBe(0);
  });

  it('redirects to a page that looks like success', async () => {
    upstream.behave({ match: {}, behaviour: { commit: false, then: 'redirect' } });
    const followed = await fetch(`${upstream.url}/refunds`, { method: 'POST', body: JSON.stringify(REFUND) });
    expect(followed.redirected).toBe(true);
    expect(followed.status).toBe(200);
    expect(await followed.text()).toContain('<title>Done</title>');
    expect(upstream.ledger()).toMatchObject([{ path: '/refunds' }, { path: '/pages/done', method: 'GET' }]);
  });

  it('redirects to the same path, so that who follows asks twice', async () => {
    upstream.behave({ match: {}, behaviour: { commit: false, then: 'redirect_same' } });
    const followed = await fetch(`${upstream.url}/refunds`, { method: 'POST', body: JSON.stringify(REFUND) });
    expect(followed.redirected).toBe(true);
    const kinds = upstream.ledger().map(({ kind, path }) => `${kind} ${path}`);
    expect(kinds).toEqual(['request /refunds', 'request /refunds', 'effect /refunds']);
  });

  it('answers 200 with nothing, and 202 with a promise', async () => {
    upstream.behave({ match: {}, behaviour: { then: 'empty200' } });
    upstream.behave({ match: {}, behaviour: { then: 'accepted' } });
    const empty = await fetch(`${upstream.url}/refunds`, { method: 'POST', body: JSON.stringify(REFUND) });
    expect([empty.status, await empty.text()]).toEqual([200, '']);
    expect((await post('/refunds', REFUND, 'k2')).status).toBe(202);
  });
});

describe('a request that is accepted', () => {
  const ask = async (id: unknown) => (await get(`/operations/${id}`)).body;

  it('is queued until its time has come, and a repeat is told about the same operation', async () => {
    const operation = { afterMs: 60_000, end: 'done' } as const;
    upstream.behave({ match: {}, times: 2, behaviour: { then: 'accepted', operation } });
    const { body, headers } = await post('/refunds', REFUND, 'k1');
    const id = body['operation_id'];
    expect(body).toEqual({ operation_id: expect.stringMatching(/^op_/), state: 'queued' });
    expect(headers.get('location')).toBe(`/operations/${id}`);
    expect(await ask(id)).toEqual({ id, state: 'queued' });
    expect((await post('/refunds', REFUND, 'k1')).body).toEqual(body);
    expect((await post('/refunds', REFUND, 'k1')).status).toBe(409);
    expect(effects('k1')).toBe(0);
    expect(upstream.ledger().filter(({ kind }) => kind === 'poll')).toMatchObject([{ key: 'k1', answer: 'queued' }]);
  });

  it('is done when its effect is there, with the same result as a lookup', async () => {
    upstream.behave({ match: {}, behaviour: { then: 'accepted', operation: { afterMs: 20, end: 'done' } } });
    const id = (await post('/refunds', REFUND, 'k1')).body['operation_id'];
    const { answer } = await upstream.waitForEffect({ key: 'k1' }, WAIT_MS);
    expect(await ask(id)).toEqual({ id, state: 'done', result: answer });
    expect(upstream.ledger().at(-1)).toMatchObject({ kind: 'poll', key: 'k1', answer: 'done' });
  });

  it('can fail, without an effect', async () => {
    upstream.behave({ match: {}, behaviour: { then: 'accepted', operation: { afterMs: 0, end: 'failed' } } });
    const id = (await post('/refunds', REFUND, 'k1')).body['operation_id'];
    await expect.poll(() => ask(id), { timeout: WAIT_MS }).toEqual({ id, state: 'failed' });
    expect(effects('k1')).toBe(0);
  });

  it('is done at once without a plan, and never where nothing is committed', async () => {
    upstream.behave({ match: {}, times: 1, behaviour: { then: 'accepted' } });
    upstream.behave({ match: {}, times: 1, behaviour: { then: 'accepted', commit: false } });
    const done = (await post('/refunds', REFUND, 'k1')).body['operation_id'];
    const never = (await post('/refunds', REFUND, 'k2')).body['operation_id'];
    expect(await ask(done)).toMatchObject({ state: 'done', result: { order_id: 'ord_1' } });
    expect(await ask(never)).toEqual({ id: never, state: 'queued' });
  });

  it('refuses a plan that it does not understand', () => {
    const operation = { afterMs: 1, end: 'maybe' } as never;
    expect(() => upstream.behave({ match: {}, behaviour: { operation } })).toThrow(/operation cannot be/);
  });
});

describe('effects and keys that go wrong', () => {
  it('has the effect before a delayed answer', async () => {
    upstream.behave({ match: {}, behaviour: { delayMs: 60_000 } });
    const answer = wire('/refunds', REFUND, 'k1');
    const effect = await upstream.waitForEffect({ path: '/refunds', key: 'k1' }, WAIT_MS);
    expect(effect.externalId).toBe('re_1');
    await upstream.close();
    expect((await answer).text).toBe('');
  });

  it('lets a late effect come although the answer was an error, and says in progress until then', async () => {
    upstream.behave({ match: {}, behaviour: { then: 'status:502', commitAfterMs: 300 } });
    expect((await post('/refunds', REFUND, 'k1')).status).toBe(502);
    expect((await get('/refunds?key=k1')).body).toEqual({ data: [] });
    expect((await post('/refunds', REFUND, 'k1')).status).toBe(409);
    await upstream.waitForEffect({ key: 'k1' }, WAIT_MS);
    expect((await post('/refunds', REFUND, 'k1')).status).toBe(201);
    expect(effects('k1')).toBe(1);
  });

  it('doubles the effect when it does not look at the key', async () => {
    upstream.behave({ match: {}, times: 'always', behaviour: { honourKey: false } });
    await post('/refunds', REFUND, 'k1');
    await post('/refunds', REFUND, 'k1');
    expect(effects('k1')).toBe(2);
  });

  it('takes a repeat for a new request once the key is forgotten', async () => {
    upstream.behave({ match: {}, times: 2, behaviour: { forgetKeyAfterMs: 60_000 } });
    upstream.behave({ match: {}, behaviour: { forgetKeyAfterMs: 0 } });
    const first = await post('/refunds', REFUND, 'k1');
    expect((await post('/refunds', REFUND, 'k1')).body).toEqual(first.body);
    expect((await post('/refunds', REFUND, 'k1')).body).not.toEqual(first.body);
    expect(effects('k1')).toBe(2);
  });

  it('keeps the answer of the first request for its key, whatever came of it, until it is reset', async () => {
    const behaviour = { commit: false, then: 'status:500', keepAnswer: true } as const;
    upstream.behave({ match: {}, behaviour });
    const statuses: number[] = [];
    for (const key of ['k1', 'k1', 'k2']) statuses.push((await post('/refunds', REFUND, key)).status);
    expect(statuses).toEqual([500, 500, 201]);
    expect(effects('k1')).toBe(0);
    upstream.reset();
    expect((await post('/refunds', REFUND, 'k1')).status).toBe(201);
  });

  it('gives one receipt for all effects', async () => {
    upstream.behave({ match: {}, times: 'always', behaviour: { constantReceipt: true } });
    const [one, other] = [await post('/refunds', REFUND, 'k1'), await post('/refunds', REFUND, 'k2')];
    expect(other.body).toEqual(one.body);
    expect(effects('k1') + effects('k2')).toBe(2);
  });

  it('does a part of what was asked for', async () => {
    upstream.behave({ match: {}, behaviour: { parts: { done: 2, of: 3 } } });
    await post('/effects/pages', { pages: 3 }, 'k1');
    const { data } = (await get('/effects/pages?key=k1')).body;
    expect(data).toMatchObject([
      { part: 1, parts: 3 },
      { part: 2, parts: 3 },
    ]);
  });

  it('finds whatever is looked for', async () => {
    upstream.behave({ match: {}, behaviour: { lookup: 'anything' } });
    expect((await get('/refunds?key=never')).body.data).toHaveLength(1);
    expect((await get('/refunds?key=never')).body.data).toHaveLength(0);
  });

  it('says in progress to the ordered number of repeats, then gives the stored answer', async () => {
    upstream.behave({ match: {}, behaviour: { then: 'status:409', inProgress: 2 } });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await post('/refunds', REFUND, 'k1')).status);
    expect(statuses).toEqual([409, 409, 409, 201]);
    expect(effects('k1')).toBe(1);
  });

  it('fails the lookups of a key for as long as the rule about its request says', async () => {
    upstream.behave({ match: {}, behaviour: { lookup: 'error', then: 'status:502' } });
    await post('/refunds', REFUND, 'k1');
    expect((await get('/refunds?key=k1')).status).toBe(500);
    expect((await get('/refunds?key=k1')).status).toBe(500);
    upstream.reset();
    expect((await get('/refunds?key=k1')).body.data).toHaveLength(1);
  });

  it('fails so many lookups of a key as the rule about its request says, and no more', async () => {
    upstream.behave({ match: {}, behaviour: { lookup: 'error:2', then: 'status:502' } });
    await post('/refunds', REFUND, 'k1');
    const statuses: number[] = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await get('/refunds?key=k1')).status);
    expect(statuses).toEqual([500, 500, 200]);
    expect(upstream.ledger().flatMap((line) => (line.kind === 'lookup' ? [line.answer] : []))).toEqual([
      'error',
      'error',
      'present',
    ]);
    expect(() => upstream.behave({ match: {}, behaviour: { lookup: 'error:2' } })).toThrow(/times/);
  });

  it('fails one lookup when the rule is about lookups only', async () => {
    await post('/refunds', REFUND, 'k1');
    upstream.behave({ match: { key: 'k1' }, behaviour: { lookup: 'error' } });
    expect((await get('/refunds?key=k1')).status).toBe(500);
    expect((await get('/refunds?key=k1')).status).toBe(200);
  });

  it('shows an effect only after the lag', async () => {
    upstream.behave({ match: {}, behaviour: { lookup: 'lag:60000' } });
    await post('/refunds', REFUND, 'k1');
    expect((await get('/refunds?key=k1')).body).toEqual({ data: [] });
    upstream.reset();
    expect((await get('/refunds?key=k1')).body.data).toHaveLength(1);
  });
});
