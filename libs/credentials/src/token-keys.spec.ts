import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { Session } from '@intendant/contracts';
import { describe, expect, test } from 'vitest';
import { parsePreviousSecrets, RunTokens } from './index.js';

const old = 'the secret of yesterday, more than thirty-two bytes';
const current = 'the secret of today, more than thirty-two bytes';
const next = 'the secret of tomorrow, more than thirty-two bytes';
const second = 1_000;
const session: Session = {
  tenant: 'acme',
  runId: 'run_01J9Z3M5V6W7X8Y9Z0A1B2C3D4',
  user: 'ada',
  permissions: ['payments:refund'],
  phase: null,
  profile: 'interactive',
  expiresAt: Math.floor(Date.now() / second) * second + 60 * second,
};
const tokens = new RunTokens(current, [old]);
const refused = { error: { code: 'unauthenticated' } };

const encode = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const decode = (part: string | undefined) => JSON.parse(Buffer.from(part ?? '', 'base64url').toString());
const headerOf = (token: string) => decode(token.split('.')[0]);
const claimsOf = (token: string) => decode(token.split('.')[1]);
/** A token made by hand: whatever it says, signed with that secret. */
function forge(header: object, claims: object, secret: string, hash = 'sha256'): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`;
}
async function parts(secret = current) {
  const token = await new RunTokens(secret).issue(session);
  return { token, header: headerOf(token), claims: claimsOf(token) };
}

describe('a change of the secret', () => {
  test('refuses no token at any step, in whatever order the services are restarted', async () => {
    const before = new RunTokens(old);
    const told = new RunTokens(old, [next]);
    const changed = new RunTokens(next, [old]);
    const after = new RunTokens(next);
    // Each step meets the one before it, while services are restarted one by one.
    for (const [one, other] of [
      [before, told],
      [told, changed],
      [changed, after],
    ] as const) {
      for (const issuer of [one, other]) {
        const token = await issuer.issue(session);
        expect(await one.verify(token)).toEqual(session);
        expect(await other.verify(token)).toEqual(session);
      }
    }
    expect(headerOf(await told.issue(session)).kid).toBe(headerOf(await before.issue(session)).kid);
  });

  test('is over for tokens of a secret that is no longer named', async () => {
    const token = await new RunTokens(old).issue(session);
    expect(await tokens.verify(token)).toEqual(session);
    await expect(new RunTokens(current).verify(token)).rejects.toMatchObject(refused);
    await expect(new RunTokens(current, [next]).verify(token)).rejects.toMatchObject(refused);
  });

  test('accepts tokens that name no key, as they were before, with each of the secrets and no other', async () => {
    const { claims } = await parts();
    const nameless = (secret: string) => forge({ alg: 'HS256', typ: 'JWT' }, claims, secret);
    expect(await tokens.verify(nameless(current))).toEqual(session);
    expect(await tokens.verify(nameless(old))).toEqual(session);
    await expect(tokens.verify(nameless(next))).rejects.toMatchObject(refused);
    const past = forge({ alg: 'HS256' }, { ...claims, exp: claims.exp - 120 }, old);
    await expect(tokens.verify(past)).rejects.toThrow('has expired');
  });

  test('tells the secret to nobody: a token names eight characters of its digest', async () => {
    const { header } = await parts();
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT', kid: expect.stringMatching(/^[\w-]{8}$/) });
    expect(header.kid).toBe((await parts()).header.kid);
    expect(header.kid).not.toBe((await parts(old)).header.kid);
  });

  test('reads previous secrets with commas between, and refuses those that are too short without showing them', () => {
    expect(parsePreviousSecrets(undefined)).toEqual([]);
    expect(parsePreviousSecrets('')).toEqual([]);
    const [one, two] = ['a'.repeat(32), 'b'.repeat(40)];
    expect(parsePreviousSecrets(` ${one} , ${two},`)).toEqual([one, two]);
    expect(() => parsePreviousSecrets(`${one},hunter2`)).toThrow(/INTENDANT_TOKEN_SECRET_PREVIOUS.*32 bytes/);
    expect(() => parsePreviousSecrets(`${one},hunter2`)).not.toThrow('hunter2');
    expect(() => new RunTokens(current, ['short'])).toThrow(/INTENDANT_TOKEN_SECRET_PREVIOUS.*32 bytes/);
  });
});

describe('a forged token', () => {
  test.each(['none', 'None', 'NONE', '', 'HS384', 'HS512', 'RS256', 'ES256', 'dir', null, 256])(
    'of the algorithm %s is refused, whichever key it names',
    async (alg) => {
      const { header, claims } = await parts();
      const { header: oldHeader } = await parts(old);
      for (const kid of [header.kid, oldHeader.kid, undefined]) {
        const hash = alg === 'HS512' ? 'sha512' : alg === 'HS384' ? 'sha384' : 'sha256';
        await expect(tokens.verify(forge({ ...header, alg, kid }, claims, current, hash))).rejects.toMatchObject(
          refused,
        );
        await expect(tokens.verify(`${encode({ ...header, alg, kid })}.${encode(claims)}.`)).rejects.toMatchObject(
          refused,
        );
      }
    },
  );

  test('signed with a private key, whose public half it brings along, is refused', async () => {
    const { header, claims } = await parts();
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const jwk = publicKey.export({ format: 'jwk' });
    for (const more of [
      { kid: header.kid, jwk },
      { jwk },
      { jku: 'http://127.0.0.1:1/jwks.json' },
      { x5u: 'http://127.0.0.1:1' },
    ]) {
      const signed = `${encode({ alg: 'RS256', typ: 'JWT', ...more })}.${encode(claims)}`;
      const signature = sign('sha256', Buffer.from(signed), privateKey).toString('base64url');
      await expect(tokens.verify(`${signed}.${signature}`)).rejects.toMatchObject(refused);
    }
    // The public key as if it were the shared secret.
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    await expect(tokens.verify(forge(header, claims, pem))).rejects.toMatchObject(refused);
  });

  test('that names another key than the one it is signed with is refused', async () => {
    const [ours, theirs] = [await parts(current), await parts(old)];
    await expect(tokens.verify(forge(ours.header, ours.claims, old))).rejects.toMatchObject(refused);
    await expect(tokens.verify(forge(theirs.header, ours.claims, current))).rejects.toMatchObject(refused);
  });

  test.each([
    ['a path', '../../../../dev/null'],
    ['a file', '/proc/self/environ'],
    ['SQL', "' UNION SELECT 'secret' --"],
    ['a command', '$(id)'],
    ['a member of every object', '__proto__'],
    ['a method', 'constructor'],
    ['nothing', ''],
    ['null', null],
    ['a number', 0],
    ['true', true],
    ['a list of the right ones', ['kid']],
    ['an object', { toString: 'kid' }],
    ['a key that never was', 'AAAAAAAA'],
  ])('whose key is %s is refused, also with a good signature', async (_, kid) => {
    const { header, claims } = await parts();
    const named = Array.isArray(kid) ? [header.kid] : kid;
    for (const secret of [current, old, '']) {
      await expect(tokens.verify(forge({ ...header, kid: named }, claims, secret))).rejects.toMatchObject(refused);
    }
  });

  test('without a signature, with another one, or with other claims is refused', async () => {
    const { token, claims } = await parts();
    const [head = '', body = '', signature = ''] = token.split('.');
    const other = (await new RunTokens(current).issue({ ...session, user: 'eve' })).split('.');
    const swapped = [
      `${head}.${body}.`,
      `${head}.${body}`,
      `${head}.${body}.${signature.slice(0, -4)}`,
      `${head}.${body}.${other[2]}`,
      `${head}.${other[1]}.${signature}`,
      `${head}.${encode({ ...claims, tenant: 'globex' })}.${signature}`,
      `${head}.${encode({ ...claims, exp: claims.exp + 86_400 })}.${signature}`,
      `${head}..${signature}`,
      `.${body}.${signature}`,
      `${token}.${signature}`,
      `${token}.x.y`,
      ` ${token}`,
    ];
    for (const bad of swapped) await expect(tokens.verify(bad), bad).rejects.toMatchObject(refused);
    expect(await tokens.verify(token)).toEqual(session);
  });

  test('for another audience, or for none, is refused', async () => {
    const { header, claims } = await parts();
    for (const aud of ['intendant-staging', ['other'], '', undefined]) {
      await expect(tokens.verify(forge(header, { ...claims, aud }, current))).rejects.toMatchObject(refused);
    }
    for (const wrong of [
      { tenant: '../acme' },
      { run: 'run_1' },
      { permissions: 'all' },
      { exp: undefined },
      { exp: 'never' },
    ]) {
      await expect(tokens.verify(forge(header, { ...claims, ...wrong }, current))).rejects.toMatchObject(refused);
    }
  });

  test('of a megabyte is refused before it is read', async () => {
    const { header, claims } = await parts();
    const padded = forge(
      header,
      { ...claims, permissions: Array.from({ length: 100_000 }, () => 'payments:x') },
      current,
    );
    expect(padded.length).toBeGreaterThan(1_000_000);
    await expect(tokens.verify(padded)).rejects.toMatchObject(refused);
    await expect(tokens.verify('a'.repeat(1_000_000))).rejects.toMatchObject(refused);
  });

  test('is not told apart from any other by what the refusal says', async () => {
    const { header, claims } = await parts();
    const said = (token: string) => tokens.verify(token).catch((error: Error) => error.message);
    const unknown = await said(forge({ ...header, kid: 'AAAAAAAA' }, claims, next));
    expect(await said(forge(header, claims, next))).toBe(unknown);
    expect(await said('nonsense')).toBe(unknown);
  });
});

test('as long as a run may make it, a token is accepted', async () => {
  const permissions = Array.from({ length: 256 }, () => '界'.repeat(200));
  const wide = { ...session, permissions };
  expect(await tokens.verify(await tokens.issue(wide))).toEqual(wide);
});

describe('clocks that differ', () => {
  test('keep no token from use that was issued five seconds in the future', async () => {
    const { header, claims } = await parts();
    const ahead = { ...claims, iat: Math.floor(Date.now() / second) + 5 };
    expect(await tokens.verify(forge(header, ahead, current))).toEqual(session);
  });

  test('do not lengthen its life: it ends at its second, by the clock of whoever reads it', async () => {
    const token = await tokens.issue(session);
    const fresh = () => new RunTokens(current);
    expect(await fresh().verify(token, session.expiresAt - 1)).toEqual(session);
    await expect(fresh().verify(token, session.expiresAt)).rejects.toThrow('has expired');
    await tokens.verify(token);
    await expect(tokens.verify(token, session.expiresAt)).rejects.toThrow('has expired');
  });
});
