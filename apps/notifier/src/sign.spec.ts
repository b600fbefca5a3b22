import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { signedHeaders } from './sign.js';

const key = (secret: string) => Buffer.from(secret, 'base64');

test('signs as the published example of Standard Webhooks', () => {
  // libraries/javascript/src/webhook.test.ts of github.com/standard-webhooks/standard-webhooks, "sign function works".
  const secret = key('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
  expect(signedHeaders([secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330_000, '{"test": 2432232314}')).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('signs with both keys while one is changed, the new one first, and the text as UTF-8', () => {
  const keys = [key('bmV3IG5ldyBuZXcgbmV3IG5ldyBuZXc='), key('b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQ=')];
  const body = '{"to":"Zoë"}';
  const { 'webhook-signature': signature } = signedHeaders(keys, 'i-2', 1_999, body);
  const expected = keys.map(
    (each) => `v1,${createHmac('sha256', each).update(`i-2.1.${body}`, 'utf8').digest('base64')}`,
  );
  expect(signature).toBe(expected.join(' '));
});
