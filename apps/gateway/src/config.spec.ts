import { describe, expect, it } from 'vitest';
import { readConfig } from './config.js';
import { environment } from './gateway.spec-helper.js';

const env = environment('postgres://127.0.0.1/x', 'nats://127.0.0.1:4222');

describe('the configuration of the gateway', () => {
  it('binds to the loopback interface and port 8080 unless told otherwise', () => {
    expect(readConfig({ ...env, INTENDANT_HTTP_PORT: undefined })).toMatchObject({ host: '127.0.0.1', port: 8080 });
  });

  it('works on loopback without keys', () => {
    const config = readConfig({ ...env, INTENDANT_SERVICE_KEYS: undefined, INTENDANT_OPERATOR_KEYS: undefined });
    expect([config.services.size, config.operators.size]).toEqual([0, 0]);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', 'gateway.example'])('refuses to be reachable on %s without keys', (host) => {
    const open = { ...env, INTENDANT_HTTP_HOST: host, INTENDANT_SERVICE_KEYS: undefined };
    expect(() => readConfig(open)).toThrow(/reached from other machines, but INTENDANT_SERVICE_KEYS is not set/);
    expect(readConfig({ ...env, INTENDANT_HTTP_HOST: host }).host).toBe(host);
  });

  it('refuses a secret that can be guessed', () => {
    expect(() => readConfig({ ...env, INTENDANT_TOKEN_SECRET: 'short' })).toThrow(/at least 32 bytes/);
  });

  it('leaves the replicas of streams to the operator of the cluster unless told otherwise', () => {
    expect(readConfig(env).streamReplicas).toBeUndefined();
    expect(readConfig({ ...env, INTENDANT_STREAM_REPLICAS: '3' }).streamReplicas).toBe(3);
  });

  it('refuses a name it does not know, with a suggestion', () => {
    expect(() => readConfig({ ...env, INTENDANT_HTTP_PROT: '1' })).toThrow(
      /INTENDANT_HTTP_PROT.*did you mean INTENDANT_HTTP_PORT/,
    );
  });

  it('names what is missing', () => {
    expect(() => readConfig({ ...env, INTENDANT_NATS_URL: undefined })).toThrow(
      /INTENDANT_NATS_URL is not set; for example/,
    );
  });
});
