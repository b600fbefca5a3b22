import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigError, logLevel, port, refuseUnknown, required, setting, streamReplicas } from './environment.js';

const folder = mkdtempSync(join(tmpdir(), 'intendant-environment-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (text: string) => {
  const path = join(folder, 'secret');
  writeFileSync(path, text);
  return path;
};

describe('names', () => {
  test('that no service understands are refused, all at once, each with the one that was meant', () => {
    const env = { INTENDANT_DATABSE_URL: 'x', INTENDANT_PORT: '1', PATH: '/bin', HOME: undefined };
    expect(() => refuseUnknown(env)).toThrow(ConfigError);
    expect(() => refuseUnknown(env)).toThrow(
      /INTENDANT_DATABSE_URL is not known; did you mean INTENDANT_DATABASE_URL\?\n.*INTENDANT_PORT is not known/,
    );
  });

  test('that are known pass, secrets also as files', () => {
    refuseUnknown({
      INTENDANT_NATS_URL: 'x',
      INTENDANT_TOKEN_SECRET_FILE: '/run/secret',
      INTENDANT_TOKEN_SECRET_PREVIOUS_FILE: '/run/previous',
      INTENDANT_FAULT: 'x',
      INTENDANT_EGRESS_HOSTS: 'x',
      INTENDANT_EGRESS_PRIVATE: 'x',
      INTENDANT_CREDENTIALS_FILE: '/run/credentials',
      OTHER: 'x',
    });
  });

  test('of files exist for secrets only', () => {
    expect(() => refuseUnknown({ INTENDANT_LOG_LEVEL_FILE: 'x' })).toThrow(/INTENDANT_LOG_LEVEL\?/);
  });
});

describe('a setting', () => {
  test('is what the variable says, and nothing when that is empty', () => {
    expect(setting({ INTENDANT_HTTP_HOST: '::1' }, 'INTENDANT_HTTP_HOST')).toBe('::1');
    expect(setting({ INTENDANT_HTTP_HOST: '' }, 'INTENDANT_HTTP_HOST')).toBeUndefined();
    expect(setting({}, 'INTENDANT_HTTP_HOST')).toBeUndefined();
  });

  test('may come from a file, without the line break an editor leaves', () => {
    expect(setting({ INTENDANT_TOKEN_SECRET_FILE: file('s3cret\n') }, 'INTENDANT_TOKEN_SECRET')).toBe('s3cret');
  });

  test('is refused when it is given twice, without telling either', () => {
    const env = { INTENDANT_TOKEN_SECRET: 'one', INTENDANT_TOKEN_SECRET_FILE: file('two') };
    expect(() => setting(env, 'INTENDANT_TOKEN_SECRET')).toThrow(
      new ConfigError('INTENDANT_TOKEN_SECRET and INTENDANT_TOKEN_SECRET_FILE are both set; keep one'),
    );
  });

  test('whose file cannot be read names the file and the reason', () => {
    const env = { INTENDANT_NATS_URL_FILE: join(folder, 'missing') };
    expect(() => setting(env, 'INTENDANT_NATS_URL')).toThrow(/INTENDANT_NATS_URL_FILE names .*missing.*ENOENT/);
  });

  test('that is needed is asked for with an example; an empty file is no value', () => {
    const message = 'INTENDANT_NATS_URL is not set; for example INTENDANT_NATS_URL=nats://127.0.0.1:4222';
    const ask = (env: Record<string, string>) => () => required(env, 'INTENDANT_NATS_URL', 'nats://127.0.0.1:4222');
    expect(ask({})).toThrow(new ConfigError(message));
    expect(ask({ INTENDANT_NATS_URL_FILE: file('\n') })).toThrow(new ConfigError(message));
    expect(ask({ INTENDANT_NATS_URL: 'nats://x' })()).toBe('nats://x');
  });
});

test('a port is a whole number that exists', () => {
  expect(port({}, 8080)).toBe(8080);
  expect(port({ INTENDANT_HTTP_PORT: '0' }, 8080)).toBe(0);
  for (const wrong of ['-1', '65536', '80.5', 'http', '1e99', ' ']) {
    expect(() => port({ INTENDANT_HTTP_PORT: wrong }, 8080), wrong).toThrow(`got "${wrong}"`);
  }
});

test('a log level is one of those there are', () => {
  expect(logLevel({})).toBe('info');
  expect(logLevel({ INTENDANT_LOG_LEVEL: 'warn' })).toBe('warn');
  expect(() => logLevel({ INTENDANT_LOG_LEVEL: 'loud' })).toThrow(/one of trace, debug, .*; got "loud"/);
});

describe('the replicas of streams', () => {
  test('are an odd number that a cluster can keep, and are left to the operator when not set', () => {
    expect(['1', '3', '5'].map((text) => streamReplicas({ INTENDANT_STREAM_REPLICAS: text }))).toEqual([1, 3, 5]);
    expect(streamReplicas({})).toBeUndefined();
  });

  test.each(['0', '2', '7', '3.0', 'three', ' 3'])('%j are refused', (text) => {
    expect(() => streamReplicas({ INTENDANT_STREAM_REPLICAS: text })).toThrow(/must be 1, 3 or 5; got/);
  });
});
