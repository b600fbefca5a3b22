import { createHash } from 'node:crypto';
import type { Session } from '@intendant/contracts';
import { describe, expect, test } from 'vitest';
import { authorizeService, bearer, parseOperatorKeys, parseServiceKeys, RunTokens } from './index.js';

const session: Session = {
  tenant: 'acme',
  runId: 'run_01J9Z3M5V6W7X8Y9Z0A1B2C3D4',
  user: 'ada',
  permissions: ['payments:refund'],
  phase: null,
  profile: 'interactive',
  expiresAt: Math.floor(Date.now() / 1000) * 1000 + 60_000,
};
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const secret = 'a secret of more than thirty-two bytes';

describe('a run token', () => {
  test('says again what it was issued for, at first sight and when it is known', async () => {
    const tokens = new RunTokens(secret);
    const token = await tokens.issue(session);
    expect(await tokens.verify(token)).toEqual(session);
    expect(await tokens.verify(token)).toEqual(session);
  });

  test('of a sandbox run says so, and no other says anything about it', async () => {
    const tokens = new RunTokens(secret);
    const claims = async (of: Session) => {
      const token = await tokens.issue(of);
      return [await tokens.verify(token), JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())];
    };
    const [known, payload] = await claims({ ...session, sandbox: true });
    expect(known).toEqual({ ...session, sandbox: true });
    expect(payload).toMatchObject({ sandbox: true });
    const [real, realPayload] = await claims({ ...session, sandbox: false });
    expect(real).toEqual(session);
    expect(realPayload).not.toHaveProperty('sandbox');
  });

  test('of another issuer, of no issuer or with changed claims is refused without being repeated', async () => {
    const tokens = new RunTokens(secret);
    const token = await tokens.issue(session);
    const [head, body, signature] = token.split('.') as [string, string, string];
    const forged = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), tenant: 'globex' }),
    ).toString('base64url');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${body}.`;
    const stranger = await new RunTokens('another secret of more than thirty-two bytes').issue(session);
    for (const bad of [`${head}.${forged}.${signature}`, unsigned, stranger, 'nonsense', '']) {
      await expect(tokens.verify(bad)).rejects.toMatchObject({ error: { code: 'unauthenticated' } });
    }
  });

  test('is refused after its time, also when it was verified before', async () => {
    const tokens = new RunTokens(secret);
    const past = await tokens.issue({ ...session, expiresAt: Date.now() - 2_000 });
    await expect(tokens.verify(past)).rejects.toThrow('has expired');
  });
});

describe('keys', () => {
  test('identify who presents them and nobody else', () => {
    const ring = parseServiceKeys(`runner@acme=${sha256('k1')}, other@globex=${sha256('k2')}`);
    expect(ring.identify('k1')).toEqual({ name: 'runner', tenant: 'acme' });
    expect(ring.identify('k2')).toEqual({ name: 'other', tenant: 'globex' });
    expect(ring.identify('k3')).toBeNull();
    expect(ring.identify(null)).toBeNull();
    expect(ring.identify('')).toBeNull();
  });

  test('carry the roles of an operator', () => {
    expect(parseOperatorKeys(`eve@*:viewer+operator=${sha256('k')}`).identify('k')).toEqual({
      name: 'eve',
      tenant: '*',
      roles: ['viewer', 'operator'],
      groups: [],
    });
  });

  test('carry the groups of an operator', () => {
    const ring = parseOperatorKeys(`eve@acme:approver/payments+on-call=${sha256('k')},bob@*:viewer=${sha256('l')}`);
    expect(ring.identify('k')).toMatchObject({ roles: ['approver'], groups: ['payments', 'on-call'] });
    expect(ring.identify('l')).toMatchObject({ groups: [] });
  });

  test.each([
    ['approver/Payments', 'has the group "Payments"; must be lower-case words'],
    ['approver/payments+', 'has the group ""; must be lower-case words'],
    ['approver/', 'has the group ""; must be lower-case words'],
    ['approver/a/b', 'has the group "a/b"; must be lower-case words'],
    ['/payments', 'is not <name>@<tenant or *>:<roles of'],
  ])('with %s stop the start', (wrong, message) => {
    expect(() => parseOperatorKeys(`eve@acme:${wrong}=${sha256('k')}`)).toThrow(message);
  });

  test('of services are looked for in the header, and what is missing is told apart from what is unknown', () => {
    const ring = parseServiceKeys(`runner@acme=${sha256('k1')}`);
    expect(authorizeService(ring, 'Bearer k1')).toEqual({ name: 'runner', tenant: 'acme' });
    expect(() => authorizeService(ring, undefined)).toThrow(/^A service key is needed/);
    expect(() => authorizeService(ring, 'Bearer k2')).toThrow(/not known here; INTENDANT_SERVICE_KEYS/);
    expect(() => authorizeService(parseServiceKeys(''), 'Bearer k1')).toThrow(/not known here/);
  });

  test('that are written wrongly stop the start and are not shown', () => {
    expect(() => parseServiceKeys('runner@acme=plain-secret')).toThrow(/INTENDANT_SERVICE_KEYS.*runner@acme=….*sha256/);
    expect(() => parseServiceKeys('runner@acme=plain-secret')).not.toThrow('plain-secret');
    expect(() => parseOperatorKeys(`eve@acme:boss=${sha256('k')}`)).toThrow(
      /roles of viewer, approver, operator, admin/,
    );
  });
});

test('a bearer header is read whatever its case, and anything else is nothing', () => {
  expect(bearer('Bearer abc')).toBe('abc');
  expect(bearer('bearer abc')).toBe('abc');
  for (const bad of [undefined, '', 'Basic abc', 'Bearer', 'Bearer a b']) expect(bearer(bad)).toBeNull();
});

test('a token that has expired since is still good for a message that was sent in time', async () => {
  const tokens = new RunTokens(secret);
  const expiresAt = Math.floor(Date.now() / 1000) * 1000 - 60_000;
  const token = await tokens.issue({ ...session, expiresAt });
  await expect(tokens.verify(token)).rejects.toThrow('has expired');
  expect(await tokens.verify(token, expiresAt - 1_000)).toMatchObject({ runId: session.runId });
  // Known by now, and judged by the time all the same.
  await expect(tokens.verify(token)).rejects.toThrow('has expired');
  await expect(tokens.verify(token, expiresAt + 1_000)).rejects.toThrow('has expired');
});

test('a secret that is too short to sign with stops the start', () => {
  expect(() => new RunTokens('short')).toThrow(/INTENDANT_TOKEN_SECRET.*32 bytes/);
});
