import { ConfigError } from '@intendant/runtime';
import { describe, expect, test } from 'vitest';
import { parseCredentials } from './credential-rules.js';

const read = (text: string, env: Record<string, string> = {}) => Object.fromEntries(parseCredentials(text, env));

describe('credentials', () => {
  test('are read from YAML, with variables filled in', () => {
    const text = `
      payments: { bearer: "\${PAYMENTS_TOKEN}" }
      mail: { header: X-Api-Key, value: \${MAIL_KEY:-key-by-default} }
      legacy: { basic: { user: robot, password: "pass: word" } }
      ledger:
        oauth: { tokenUrl: https://login.example/token, clientId: intendant, clientSecret: s3cret-1, scope: write }`;
    expect(read(text, { PAYMENTS_TOKEN: 'tok_123456' })).toEqual({
      payments: {
        kind: 'fixed',
        header: { name: 'Authorization', value: 'Bearer tok_123456' },
        secret: 'tok_123456',
      },
      mail: { kind: 'fixed', header: { name: 'X-Api-Key', value: 'key-by-default' }, secret: 'key-by-default' },
      legacy: {
        kind: 'fixed',
        header: { name: 'Authorization', value: `Basic ${btoa('robot:pass: word')}` },
        secret: 'robot:pass: word',
      },
      ledger: {
        kind: 'oauth',
        client: {
          tokenUrl: 'https://login.example/token',
          clientId: 'intendant',
          clientSecret: 's3cret-1',
          scope: 'write',
          audience: null,
          auth: 'basic',
        },
      },
    });
  });

  test('are read from JSON, and may be none', () => {
    expect(read('{"a": {"bearer": "tok_123456"}}')).toHaveProperty('a.secret', 'tok_123456');
    expect(read('{}')).toEqual({});
  });
});

const planted = 'planted-secret';
const client = (changes: string) =>
  `a: { oauth: { tokenUrl: https://l.example, clientId: c, clientSecret: ${planted}, ${changes} } }`;

describe('a mistake in the credentials is named by credential and field', () => {
  test.each([
    { text: `[${planted}]`, says: 'INTENDANT_CREDENTIALS: must be a mapping' },
    { text: `a: { bearer: "${planted}`, says: 'INTENDANT_CREDENTIALS: line 1 is not valid YAML (MISSING_CHAR)' },
    { text: `a: *${planted}`, says: 'INTENDANT_CREDENTIALS: has an alias' },
    { text: `a: { bearer: ${planted} }\na: {}`, says: 'line 2 is not valid YAML (DUPLICATE_KEY)' },
    { text: `a: ${planted}`, says: 'INTENDANT_CREDENTIALS a: has no kind of credential; must be one of bearer' },
    { text: `a: { bearer: ${planted}, basic: {} }`, says: 'a: has bearer and basic' },
    { text: `"A b": { bearer: ${planted} }`, says: 'INTENDANT_CREDENTIALS A b: is no name' },
    { text: `a: { bearer: ${planted}, other: 1 }`, says: 'a.other: is not known here; must be bearer' },
    { text: 'a: { bearer: [] }', says: 'a.bearer: is missing' },
    { text: 'a: { bearer: "${NOT_THERE}" }', says: 'a.bearer: the environment variable NOT_THERE is not set' },
    { text: 'a: { bearer: short }', says: 'a.bearer: has 5 characters; must be 6 or more' },
    { text: `a: { bearer: "${planted}\\n" }`, says: 'a.bearer: has characters that a header cannot carry' },
    { text: `a: { header: "X Key", value: ${planted} }`, says: 'a.header: is not the name of a header' },
    { text: `a: { header: Idempotency-Key, value: ${planted} }`, says: 'a.header: is set by the runtime' },
    { text: 'a: { header: X-Key }', says: 'a.value: is missing' },
    { text: `a: { basic: { user: u, pass: ${planted} } }`, says: 'a.basic.pass: is not known here' },
    { text: client('auth: header'), says: 'a.oauth.auth: must be basic or post' },
    {
      text: `a: { oauth: { tokenUrl: "ftp://${planted}", clientId: c, clientSecret: ${planted} } }`,
      says: 'a.oauth.tokenUrl: is not an http or https URL',
    },
    { text: 'a: { oauth: {} }', says: 'a.oauth.clientSecret: is missing' },
  ])('$says', ({ text, says }) => {
    expect(() => read(text)).toThrow(ConfigError);
    expect(() => read(text)).toThrow(says);
    expect(() => read(text)).not.toThrow(planted);
  });

  test('and all mistakes are told at once', () => {
    expect(() => read('a: { bearer: "" }\nb: { header: X }')).toThrow(/ a\.bearer: .+\n.+ b\.value: /);
  });
});
