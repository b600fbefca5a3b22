import { ConfigError } from '@intendant/runtime';
import { describe, expect, test } from 'vitest';
import { readConfig } from './config.js';

const servers = { INTENDANT_DATABASE_URL: 'postgres://a@b/c', INTENDANT_NATS_URL: 'nats://b' };
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const ops = { name: 'ops', url: 'https://ops.example.com/hook?to=1', secret, tenant: 'acme' };
const read = (webhooks: unknown, env: Record<string, string> = {}) =>
  readConfig({ ...servers, INTENDANT_WEBHOOKS: JSON.stringify(webhooks), ...env });

describe('webhooks', () => {
  test('are none when nothing is set', () => {
    expect(readConfig(servers)).toMatchObject({ webhooks: [], publicUrl: null });
  });

  test('are told of what needs a person, unless they say of what', () => {
    const { webhooks } = read([
      ops,
      { ...ops, name: 'log', tenant: '*', previousSecret: secret, events: ['committed', 'committed'] },
    ]);
    expect(webhooks).toMatchObject([
      { name: 'ops', tenant: 'acme', events: ['approval_requested', 'outcome_unknown', 'dead_lettered'] },
      { name: 'log', tenant: '*', events: ['committed'] },
    ]);
    expect(webhooks.map(({ secrets }) => secrets.length)).toEqual([1, 2]);
    expect(webhooks[0]?.secrets[0]).toEqual(Buffer.alloc(32, 7));
  });

  test.each([
    [[{ ...ops, name: 'Ops!' }], 'INTENDANT_WEBHOOKS[0].name: must be a name such as ops'],
    [[ops, ops], 'INTENDANT_WEBHOOKS[1].name: ops is there twice'],
    [[ops, 7], 'INTENDANT_WEBHOOKS[1] must be an object with the fields name, url, secret'],
    [[{ ...ops, url: undefined }], 'INTENDANT_WEBHOOKS[0] (ops).url: is missing; must be an http or https URL'],
    [[{ ...ops, url: 'ftp://a.example' }], 'INTENDANT_WEBHOOKS[0] (ops).url: must be an http or https URL'],
    [[{ ...ops, url: 'https://me:pw@a.example' }], 'INTENDANT_WEBHOOKS[0] (ops).url: must be an http or https URL'],
    [
      [{ ...ops, url: 'http://169.254.169.254/' }],
      'INTENDANT_WEBHOOKS[0] (ops).url: 169.254.169.254 must not be called',
    ],
    [
      [{ ...ops, secret: secret.slice(6) }],
      'INTENDANT_WEBHOOKS[0] (ops).secret: must be whsec_ and 24 to 64 random bytes',
    ],
    [[{ ...ops, secret: 'whsec_c2hvcnQ=' }], 'INTENDANT_WEBHOOKS[0] (ops).secret: must be whsec_'],
    [[{ ...ops, previousSecret: '' }], 'INTENDANT_WEBHOOKS[0] (ops).previousSecret: must be whsec_'],
    [[{ ...ops, tenant: 'ACME' }], 'INTENDANT_WEBHOOKS[0] (ops).tenant: must be a tenant such as acme, or * for all'],
    [
      [{ ...ops, events: ['approved'] }],
      'INTENDANT_WEBHOOKS[0] (ops).events: must be a list of some of approval_requested',
    ],
    [[{ ...ops, events: [] }], 'INTENDANT_WEBHOOKS[0] (ops).events: must be a list'],
    [[{ ...ops, secrets: [] }], 'INTENDANT_WEBHOOKS[0] (ops).secrets: is not known; must be one of name, url, secret'],
    [{ ops }, 'INTENDANT_WEBHOOKS must be a list such as [{ "name": "ops"'],
  ])('such as %j are refused, with entry and field', (webhooks, message) => {
    expect(() => read(webhooks)).toThrow(ConfigError);
    expect(() => read(webhooks)).toThrow(message);
  });

  test('never show a secret in an error', () => {
    const shown = (text: string) => {
      try {
        readConfig({ ...servers, INTENDANT_WEBHOOKS: text });
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const leaky = 'whsec_c2VjcmV0';
    const broken = `[{"name": "ops", "secret": "${leaky}" "url": 1}]`;
    expect(shown(broken)).toContain('INTENDANT_WEBHOOKS is not valid JSON; must be a list such as');
    expect(shown(broken)).not.toContain(leaky);
    const wrong = JSON.stringify([
      { ...ops, name: leaky, secret: leaky, previousSecret: leaky, url: `https://u:${leaky}@a.example` },
    ]);
    expect(shown(wrong).split('\n')).toHaveLength(4);
    expect(shown(wrong)).not.toContain(leaky);
  });

  test('may be at a private address where the rules for all calls allow it', () => {
    const env = { INTENDANT_EGRESS_PRIVATE: '10.0.0.0/8', INTENDANT_EGRESS_HOSTS: '10.1.2.3:8080' };
    expect(read([{ ...ops, url: 'http://10.1.2.3:8080/' }], env).webhooks).toHaveLength(1);
    expect(() => read([ops], env)).toThrow(
      'ops.example.com:443 must not be called: it is not in INTENDANT_EGRESS_HOSTS',
    );
  });
});

describe('the public address', () => {
  test('loses its final slash', () => {
    expect(read([], { INTENDANT_PUBLIC_URL: 'https://a.example/intendant/' }).publicUrl).toBe(
      'https://a.example/intendant',
    );
    expect(read([], { INTENDANT_PUBLIC_URL: 'https://a.example' }).publicUrl).toBe('https://a.example');
  });

  test.each(['a.example', 'ftp://a.example', 'https://a.example/?x=1', 'https://me@a.example/'])(
    'cannot be %s',
    (url) => {
      expect(() => read([], { INTENDANT_PUBLIC_URL: url })).toThrow(
        'INTENDANT_PUBLIC_URL must be an http or https URL',
      );
    },
  );
});
