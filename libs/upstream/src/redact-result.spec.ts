import {
  type HttpPoll,
  type HttpUpstream,
  type PreviewDefinition,
  type Redaction,
  takenOut,
} from '@intendant/contracts';
import type { Json } from '@intendant/intent';
import { MisbehavingServer, response, toolAt } from '@intendant/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asking } from './asking.spec-helper.js';
import { Upstreams } from './index.js';
import { ResultRedactor } from './redact-result.js';

const redactor = (redaction?: Partial<Redaction>) =>
  new ResultRedactor(redaction ? { redaction: { pointers: [], patterns: [], ...redaction } } : {});
const all = redactor({ patterns: ['card', 'iban', 'token'] });

/** Digits with the check digit that makes them the number of a card. */
function withCheckDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

describe('patterns', () => {
  test.each([
    ['card 4111111111111111.', 'card [redacted].'],
    ['4111 1111 1111 1111', takenOut],
    ['5500-0055-5555-5559 and 378282246310005', '[redacted] and [redacted]'],
    ['6011111111111117, 3530111333300000, 30569309025904', '[redacted], [redacted], [redacted]'],
    ['4111 1111 1111 1111 12/27', '[redacted] 12/27'],
    ['4111 1111 1111 1111 123, exp 12 27', '[redacted] 123, exp 12 27'],
    ['5500-0055-5555-5559-123', '[redacted]-123'],
    ['2 4111 1111 1111 1111', '2 [redacted]'],
    ['12 4111111111111111 3782 822463 10005', '12 [redacted] [redacted]'],
    ['123 4111 1111 1111 1111', '123 [redacted]'],
    ['4111\u00a01111\u00a01111\u00a01111', takenOut],
    ['4111.1111.1111.1111', takenOut],
    ['4111  1111\u20111111\u200b_1111', takenOut],
    ['PAN4111111111111111 pan_4111111111111111_x', 'PAN[redacted] pan_[redacted]_x'],
    ['order-4111111111111111', 'order-[redacted]'],
    ['4111111111111111.00EUR', '[redacted].00EUR'],
    ['4111111111111111=2712101', '[redacted]=2712101'],
    ['DE89 3704 0044 0532 0130 00', takenOut],
    ['de89370400440532013000', takenOut],
    ['DE89 3704 0044 0532 0130 00 paid', '[redacted] paid'],
    ['AT61 1904 3002 3457 3201 PAID LAST WEEK', '[redacted] PAID LAST WEEK'],
    ['no12 DE89 3704 0044 0532 0130 00', 'no12 [redacted]'],
    ['to GB82WEST12345698765432;', 'to [redacted];'],
    ['Authorization: Bearer abcdefghijklmnop.qr-st', 'Authorization: Bearer [redacted]'],
    ['authorization: bearer abcdefghijklmnopqrstuvwxyz', 'authorization: bearer [redacted]'],
    ['Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==', 'Authorization: Basic [redacted]'],
    ['token_eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl', 'token_[redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl', takenOut],
    [
      `sk_live_${'a1'.repeat(12)} sk-ant-${'b'.repeat(30)} AKIA${'Q'.repeat(16)} ghp_${'x'.repeat(36)}`,
      '[redacted] [redacted] [redacted] [redacted]',
    ],
    ['a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b', 'a [redacted] b'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE and no end', takenOut],
  ])('find %s', (text, clean) => {
    expect(all.words(text)).toBe(clean);
    expect(all.data({ a: [{ text }] })).toEqual({ a: [{ text: clean }] });
  });

  test.each([
    '4111111111111112',
    '0.4111111111111111',
    '9f4111111111111111ab2c',
    'a1-4111111111111111b2',
    '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1',
    '4111, 1111, 1111, 1111',
    'in 4111 years 1111 of 1111 are 1111',
    '1411111111111111117',
    '41111111111111110000000',
    '550e8400-e29b-41d4-a716-446655440000',
    '01JD8Q4Y6V2N7XK3T5W9ZB1CEF',
    'DE88 3704 0044 0532 0130 00',
    'Bearer of news',
    'basic understanding',
    'Basic misunderstandings of bearer bonds',
    'sk-short',
    '2026-01-02T03:04:05.006Z',
  ])('leave %s alone', (text) => {
    expect(all.words(text)).toBe(text);
  });

  test('find numbers of cards that are numbers in JSON', () => {
    expect(all.data({ card: 4111111111111111, amount: 4111111111111112, big: 4.111e15 })).toEqual({
      card: takenOut,
      amount: 4111111111111112,
      big: 4.111e15,
    });
  });

  test('are cards and tokens where nothing else is said, and what is listed where it is', () => {
    const text = '4111111111111111 DE89370400440532013000';
    expect(redactor().words(text)).toBe('[redacted] DE89370400440532013000');
    expect(redactor({ patterns: ['iban'] }).words(text)).toBe('4111111111111111 [redacted]');
    expect(redactor({ patterns: [] }).words(text)).toBe(text);
  });

  test('find every card number, whatever stands around it, other numbers too', () => {
    const digits = fc.stringMatching(/^4\d{14}$/).map(withCheckDigit);
    const grouped = digits.chain((card) =>
      fc
        .constantFrom('', ' ', '-', '.', '_', '  ', '\u00a0', '\u2009', '\u2013', '\u200b')
        .map((sign) => card.replace(/(\d{4})(?=\d)/g, `$1${sign}`)),
    );
    const around = fc.oneof(
      fc.stringMatching(/^[^\w.-]{0,5}$/),
      fc.constantFrom('a', 'PAN', 'x_', ' 12/27 ', ' 12 27 ', '-12-', ' 1 '),
    );
    fc.assert(
      fc.property(around, grouped, around, (before, card, after) => {
        expect(all.words(`${before}${card}${after}`)).toBe(`${before}${takenOut}${after}`);
      }),
    );
  });

  test('change nothing where there is nothing, and are done once they are done', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const data = JSON.parse(JSON.stringify(value)) as Json;
        const once = all.data(data);
        if (JSON.stringify(once) === JSON.stringify(data)) expect(once).toBe(data);
        expect(all.data(once)).toBe(once);
      }),
    );
  });

  test('take no longer than a text is long', () => {
    for (const text of [
      '4'.repeat(500_000),
      '1 '.repeat(250_000),
      '411 '.repeat(125_000),
      'a4'.repeat(250_000),
      'a'.repeat(500_000),
      'eyJ'.repeat(150_000),
      'DE89 '.repeat(100_000),
      '-----BEGIN PRIVATE KEY-----'.repeat(15_000),
      'Bearer '.repeat(70_000),
      'Basic dXNlcjpw '.repeat(30_000),
    ]) {
      // Of the processor, which others may be using, too.
      const since = process.cpuUsage();
      all.words(text);
      expect(process.cpuUsage(since).user / 1_000, text.slice(0, 30)).toBeLessThan(1_000);
    }
  });
});

describe('places', () => {
  const hides = redactor({ pointers: ['/card/number', '/lines/*/iban', '/a~1b'] });

  test('lose what stands there, whatever it is', () => {
    expect(
      hides.data({ card: { number: '42', brand: 'visa' }, lines: [{ iban: { of: 1 } }, { id: 7 }], 'a/b': null }),
    ).toEqual({
      card: { number: takenOut, brand: 'visa' },
      lines: [{ iban: takenOut }, { id: 7 }],
      'a/b': takenOut,
    });
  });

  test('that are not there change nothing', () => {
    const data = { card: 'none', lines: {} };
    expect(hides.data(data)).toBe(data);
  });
});

describe('what comes back from an upstream', () => {
  let server: MisbehavingServer;
  let upstreams: Upstreams;
  beforeAll(async () => {
    server = await MisbehavingServer.start();
    upstreams = new Upstreams(() => null);
  });
  afterAll(async () => {
    await upstreams.close();
    await server.stop();
  });

  const redaction: Redaction = { pointers: ['/holder'], patterns: ['card'] };
  const request = (upstream: Partial<HttpUpstream> = {}) =>
    asking(toolAt(server.url, { upstream, tool: { redaction } }), { args: {} });
  const answers = (status: number, body: unknown) =>
    server.script({
      at: 'request',
      send: response(status, typeof body === 'string' ? body : JSON.stringify(body)),
      then: 'keep',
    });
  const called = (upstream: Partial<HttpUpstream> = {}) =>
    upstreams.call({ ...request(upstream), attemptId: 'a-1' }, { mayStart: () => true });

  test('is clean before it is a verdict', async () => {
    answers(200, { id: 're_1', holder: 'Ada', note: 'card 4111111111111111' });
    expect(await called()).toEqual({
      kind: 'executed',
      data: { id: 're_1', holder: takenOut, note: 'card [redacted]' },
    });
  });

  test('is clean in the texts of errors', async () => {
    answers(422, { error: 'card 4111 1111 1111 1111 was refused' });
    expect(await called()).toMatchObject({
      kind: 'not_executed',
      detail: expect.stringContaining('card [redacted] was refused'),
    });
  });

  test.each([
    ['an error', { holder: 'Ada', error: 'no' }, '{"holder":"[redacted]","error":"no"}'],
    ['another place of it', { errors: [{ holder: { of: 'Ada' } }] }, '{"errors":[{"holder":"[redacted]"}]}'],
    ['an answer that is cut', '{"id":"re_1","holder":"Ada Lov', '{"id":"re_1","[redacted]'],
    ['JSON within JSON', String.raw`failed: "{\"holder\":\"Ada\"`, String.raw`failed: "{\"[redacted]`],
    ['XML', '<p><holder>Ada</holder></p>', '<p><[redacted]'],
    ['a sentence', 'no such Holder: Ada', 'no such [redacted]'],
    ['nothing, if it is only named', 'holders are not known here', 'holders are not known here'],
  ])('is clean where a text names a place that nobody reads, in %s', async (_, body, detail) => {
    answers(422, body);
    expect(await called()).toMatchObject({ kind: 'not_executed', detail });
  });

  test('is clean where it does not fit the output schema', async () => {
    const strict = new Upstreams(() => 'the answer does not fit: /holder: expected a string, got the number 4711');
    answers(200, { holder: 4711 });
    expect(await strict.call({ ...request(), attemptId: 'a-1' }, { mayStart: () => true })).toMatchObject({
      detail: 'http_200: the answer does not fit: /[redacted]',
    });
    await strict.close();
  });

  const operation = { id: 'op-4111111111111111', holder: 'Ada', note: 'card 4111111111111111' };
  const poll: HttpPoll = {
    ...{ method: 'GET', path: '/operations/{{ accepted.id }}', headers: {}, executed: 'done', failed: 'failed' },
    receipt: null,
  };

  test('is clean when it was only accepted, but for that by which it is asked for later', async () => {
    answers(202, operation);
    const clean = { id: 'op-[redacted]', holder: takenOut, note: 'card [redacted]' };
    expect(await called()).toEqual({ kind: 'accepted', data: clean });
    answers(202, operation);
    const data = { ...clean, id: operation.id };
    expect(await called({ poll })).toEqual({ kind: 'accepted', data });
    answers(200, { ...operation, done: true, failed: false });
    expect(await upstreams.poll({ ...request({ poll }), accepted: data })).toEqual({
      kind: 'executed',
      data: { ...clean, done: true, failed: false },
    });
    expect(server.requests.at(-1)?.path).toBe('/operations/op-4111111111111111');
    answers(200, { ...operation, done: false, failed: true });
    expect(await upstreams.poll({ ...request({ poll }), accepted: data })).toMatchObject({
      detail: JSON.stringify({ ...clean, done: false, failed: true }),
    });
  });

  test('is clean in a preview, but for the token that goes back', async () => {
    const { tool, ...rest } = request();
    const preview: PreviewDefinition = {
      request: { kind: 'http', method: 'GET', path: '/look', headers: {}, body: null },
      use: 'real',
      before: 'data',
      after: '{ "of": data.holder, "first": $substring(data.note, 5, 8), "seen": $headers.`x-seen` }',
      token: { read: 'data.version', apply: { kind: 'if_match' }, changedStatuses: [412] },
    };
    const look = { holder: 'Ada', note: 'card 4111111111111111', version: 'v-4111111111111111' };
    const shows = response(200, JSON.stringify(look), { 'X-Seen': '4111 1111 1111 1111' });
    server.script({ at: 'request', send: shows, then: 'keep' });
    const asked = { ...rest, tool: { ...tool, approval: { ...tool.approval, preview } } };
    expect(await upstreams.preview(asked)).toEqual({
      kind: 'shown',
      before: { holder: takenOut, note: 'card [redacted]', version: 'v-[redacted]' },
      after: { of: takenOut, first: '[redacte', seen: takenOut },
      token: 'v-4111111111111111',
    });
    answers(500, look);
    expect(await upstreams.preview(asked)).toMatchObject({
      detail: `the preview answered 500: ${JSON.stringify({ holder: takenOut, note: 'card [redacted]', version: 'v-[redacted]' })}`,
    });
  });

  test('is clean in a lookup, whose receipts are told apart all the same', async () => {
    const found = async (card: string) => {
      answers(200, [{ card }]);
      return upstreams.lookup(request());
    };
    const [one, two, same] = [
      await found('4111111111111111'),
      await found('5500005555555559'),
      await found('4111111111111111'),
    ];
    expect(one).toMatchObject({ kind: 'present', data: { card: takenOut }, receipt: expect.any(String) });
    expect(one).toEqual(same);
    expect(two).not.toEqual(one);
    answers(200, [{ card: 'none' }]);
    expect(await upstreams.lookup(request())).not.toHaveProperty('receipt');
  });
});
