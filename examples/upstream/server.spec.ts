import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { MAIL, probe, REFUND, WAIT_MS } from './probe.js';
import { type Rule, startUpstream, type Upstream } from './server.js';

let upstream: Upstream;
const { post, get, effects } = probe(() => upstream);

beforeEach(async () => {
  upstream = await startUpstream();
});

afterEach(() => upstream.close());

describe('the regular upstream', () => {
  it('shows any well-formed order and no other', async () => {
    expect((await get('/orders/ord_7')).body).toEqual({
      order_id: 'ord_7',
      amount_cents: 2499,
      currency: 'EUR',
      email: '7@customer.example',
    });
    expect((await get('/orders/nonsense')).status).toBe(404);
  });

  it('answers a repeated refund from the first, even with its fields in another order', async () => {
    const first = await post('/refunds', REFUND, 'k1', 'a1');
    const again = await post('/refunds', { amount_cents: 2499, order_id: 'ord_1' }, 'k1', 'a2');
    expect(first.status).toBe(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(effects('k1')).toBe(1);
    expect((await get('/refunds?key=k1')).body).toEqual({ data: [first.body] });
  });

  it('shows what a refund would change, and changes nothing', async () => {
    await post('/refunds', REFUND, 'k1');
    const shown = await get('/refunds/preview?order_id=ord_1&amount_cents=500');
    expect(shown.body).toEqual({
      before: { refunded_cents: 2499 },
      after: { refunded_cents: 2999 },
      version: 1,
    });
    expect(shown.headers.get('etag')).toBe('"1"');
    expect((await get('/refunds/preview?order_id=ord_2&amount_cents=500')).body).toMatchObject({ version: 0 });
    expect((await get('/refunds/preview?order_id=ord_1')).status).toBe(400);
    expect(upstream.ledger().filter(({ kind }) => kind === 'effect')).toHaveLength(1);
  });

  it.each([
    ['If-Match', { 'if-match': '"0"' }, {}],
    ['X-Version', { 'x-version': '0' }, {}],
    ['the version in the body', {}, { version: 0 }],
  ])(
    'refunds with %s only while nothing else was refunded of the order',
    async (_, headers: Record<string, string>, more) => {
      const refund = (key: string) => post('/refunds', { ...REFUND, ...more }, key, 'a1', headers);
      expect((await refund('k1')).status).toBe(201);
      expect(await refund('k2')).toMatchObject({ status: 412, body: { error: { code: 'state_changed' } } });
      expect(effects('k2')).toBe(0);
      // It was its own effect that changed the state.
      expect((await refund('k1')).status).toBe(201);
      expect(effects('k1')).toBe(1);
    },
  );

  it('refuses a key that comes back with another body', async () => {
    await post('/refunds', REFUND, 'k1');
    expect((await post('/refunds', { ...REFUND, amount_cents: 1 }, 'k1')).status).toBe(422);
    expect(effects('k1')).toBe(1);
  });

  it('refuses a body it cannot use, without an effect', async () => {
    expect((await post('/refunds', { ...REFUND, amount_cents: 0 }, 'k1')).status).toBe(400);
    expect((await post('/mails', { to: 'a@b.example' }, 'k1')).status).toBe(400);
    expect(upstream.ledger().map((entry) => entry.kind)).toEqual(['request', 'request']);
  });

  it('sends each accepted mail and shows all of one reference', async () => {
    await post('/mails', MAIL, 'k1');
    await post('/mails', MAIL, 'k1');
    expect(effects('k1')).toBe(2);
    expect((await get('/mails?reference=k1')).body.data).toHaveLength(2);
    expect((await get('/mails?reference=k2')).body).toEqual({ data: [] });
  });

  it('creates legacy tickets without a key and has no way to find them', async () => {
    expect((await post('/legacy/tickets', { title: 'Broken' })).body).toHaveProperty('ticket_id');
    expect((await get('/legacy/tickets?key=k1')).status).toBe(404);
  });

  it('keeps the keys of generic effects apart by name', async () => {
    await post('/effects/one', {}, 'k1');
    await post('/effects/one', {}, 'k1');
    await post('/effects/two', {}, 'k1');
    expect(effects('k1')).toBe(2);
    expect((await get('/effects/one?key=k1')).body.data).toHaveLength(1);
  });

  it('refuses to create a thing again, and shows the first', async () => {
    const first = await post('/once/thing', {}, 'k1');
    const again = await post('/once/thing', {}, 'k1');
    expect({ status: again.status, body: again.body }).toMatchObject({
      status: 409,
      body: { error: { code: 'duplicate' }, original: first.body },
    });
    expect(effects('k1')).toBe(1);
  });

  it('takes each request for a new one where keys are not looked at, and finds all of them', async () => {
    await post('/plain/thing', {}, 'k1');
    await post('/plain/thing', {}, 'k1');
    expect(effects('k1')).toBe(2);
    expect((await get('/plain/thing?key=k1')).body.data).toHaveLength(2);
  });

  it('counts the benchmark without writing a ledger', async () => {
    await post('/bench', { any: 1 });
    await post('/bench', { any: 1 });
    expect((await get('/bench/count')).body).toEqual({ count: 2 });
    expect(upstream.ledger()).toEqual([]);
  });

  it('writes request, effect and lookup in the order in which they happened', async () => {
    await post('/refunds', REFUND, 'k1', 'a1');
    await get('/refunds?key=k1');
    await get('/refunds?key=k2');
    const [request, effect, present, absent] = upstream.ledger();
    expect(request).toMatchObject({ seq: 1, kind: 'request', method: 'POST', path: '/refunds', attemptId: 'a1' });
    expect(request).toMatchObject({ bodySize: JSON.stringify(REFUND).length });
    expect(effect).toMatchObject({ seq: 2, kind: 'effect', key: 'k1', attemptId: 'a1', externalId: 're_1' });
    expect(present).toMatchObject({ seq: 3, kind: 'lookup', key: 'k1', answer: 'present' });
    expect(absent).toMatchObject({ seq: 4, kind: 'lookup', key: 'k2', answer: 'absent' });
  });
});

describe('rules', () => {
  it('apply to what they match, in order, and are used up', async () => {
    upstream.behave({ match: { bodyContains: 'ord_2' }, behaviour: { then: 'status:500' } });
    upstream.behave({ match: { path: '/refunds' }, times: 2, behaviour: { then: 'status:502' } });
    const other = { ...REFUND, order_id: 'ord_2' };
    const statuses: number[] = [];
    for (const body of [REFUND, other, other, REFUND]) {
      statuses.push((await post('/refunds', body)).status);
    }
    expect(statuses).toEqual([502, 500, 502, 201]);
  });

  it('apply to reads by their query', async () => {
    upstream.behave({ match: { bodyContains: 'seven' }, behaviour: { then: 'status:503' } });
    expect((await get('/orders/ord_7?ref=six')).status).toBe(200);
    expect((await get('/orders/ord_7?ref=seven')).status).toBe(503);
  });

  it('can be given and cleared over HTTP', async () => {
    const rule: Rule = { match: { path: '/mails' }, times: 5, behaviour: { then: 'status:500', commit: false } };
    expect((await post('/__control', rule)).status).toBe(200);
    expect((await post('/mails', MAIL)).status).toBe(500);
    await post('/__reset', {});
    expect((await post('/mails', MAIL)).status).toBe(201);
    expect((await get('/__ledger')).body).toEqual({ data: upstream.ledger() });
  });

  it('with a mistake are refused by name', async () => {
    const unknown = await post('/__control', { match: {}, behaviour: { thn: 'reset' } });
    expect(unknown.status).toBe(400);
    expect(unknown.body.error).toMatchObject({ message: expect.stringContaining('thn') });
    expect((await post('/__control', { match: {}, behaviour: { then: 'status:999' } })).status).toBe(400);
  });
});

describe('waiting', () => {
  it('ends with the line that completes the count, over HTTP too', async () => {
    const waiting = get('/__wait?kind=effect&path=/mails&count=2&timeout=5000');
    await post('/mails', MAIL, 'k1');
    await post('/mails', MAIL, 'k2');
    expect((await waiting).body.data).toHaveLength(2);
    const second = await upstream.waitForRequest({ path: '/mails', count: 2 }, WAIT_MS);
    expect(second.key).toBe('k2');
  });

  it('says what is missing when the time is over', async () => {
    await expect(upstream.waitForEffect({ key: 'k9' }, 1)).rejects.toThrow(/1 effect line.*k9.*the ledger has 0/);
    expect((await get('/__wait?kind=effect&path=/mails&timeout=1')).status).toBe(504);
  });
});

describe('the ledger file', () => {
  it('has each line before the answer and is continued by the next process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const ledgerFile = join(folder, 'ledger.jsonl');
    await upstream.close();
    upstream = await startUpstream({ ledgerFile });
    const first = await post('/refunds', REFUND, 'k1');
    const lines = readFileSync(ledgerFile, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(upstream.ledger());

    await upstream.close();
    upstream = await startUpstream({ ledgerFile });
    expect((await post('/refunds', REFUND, 'k1')).body).toEqual(first.body);
    expect(upstream.ledger().map((entry) => entry.seq)).toEqual([1, 2, 3]);
  });
});
