import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifySlackSignature } from './signature.js';

/** The worked example of https://docs.slack.dev/authentication/verifying-requests-from-slack. */
const example = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  body: Buffer.from(
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  ),
  headers: {
    'x-slack-request-timestamp': '1531420618',
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  },
  nowMs: 1_531_420_618_000,
};
const verify = (over: Partial<typeof example> & { headers?: Record<string, string | string[]> } = {}) => {
  const { secret, headers, body, nowMs } = { ...example, ...over };
  return verifySlackSignature(secret, headers, body, nowMs);
};

describe('a request of Slack', () => {
  test('is told by the signature of the documented example', () => {
    expect(verify()).toBe(true);
  });

  test.each([
    [-300_000, true],
    [300_000, true],
    [-301_000, false],
    [301_000, false],
  ])('that is %i ms away from now: %s', (away, taken) => {
    expect(verify({ nowMs: example.nowMs + away })).toBe(taken);
  });

  test('is not one with another secret, body, time or signature', () => {
    const { headers, body } = example;
    const signed = (value: string) => ({ ...headers, 'x-slack-signature': value });
    expect(verify({ secret: `${example.secret}x` })).toBe(false);
    expect(verify({ body: Buffer.concat([body, Buffer.from('&x=1')]) })).toBe(false);
    expect(verify({ headers: { ...headers, 'x-slack-request-timestamp': '1531420619' } })).toBe(false);
    expect(verify({ headers: signed(headers['x-slack-signature'].replace('v0', 'v1')) })).toBe(false);
    expect(verify({ headers: signed(headers['x-slack-signature'].toUpperCase()) })).toBe(false);
    expect(verify({ headers: signed('') })).toBe(false);
  });

  test('is not one without, or with several of, its headers', () => {
    const { headers } = example;
    for (const name of ['x-slack-signature', 'x-slack-request-timestamp'] as const) {
      const { [name]: value, ...rest } = headers;
      expect(verify({ headers: rest as unknown as typeof headers })).toBe(false);
      expect(verify({ headers: { ...headers, [name]: [value, value] } as unknown as typeof headers })).toBe(false);
    }
  });

  test.each(['', 'now', '1531420618.0', '-1', '1e9', '99999999999999'])('is not one of the time "%s"', (time) => {
    const signature = createHmac('sha256', example.secret).update(`v0:${time}:`).update(example.body).digest('hex');
    const headers = { 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${signature}` };
    expect(verify({ headers })).toBe(false);
  });
});
