import { RunTokens } from '@intendant/credentials';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environment, keys, startGateway, type TestGateway, tokenFor } from './gateway.spec-helper.js';

describe('runs', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  const good = { user: 'ada', permissions: ['orders:read'], profile: 'interactive' };
  const open = (body: unknown, key: string | null = keys.service) => gateway.call('POST', '/v1/runs', key, { body });

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), createDatabase()]);
    gateway = await startGateway(environment(database.url, nats.url));
  });
  afterAll(async () => {
    await gateway?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
  });

  it('gives a token that says on whose behalf the run acts, for as long as the run lives', async () => {
    const { status, body } = await open({ ...good, phase: 'resolve', ttl: 'PT30M' });
    expect(status).toBe(201);
    expect(body).toEqual({
      runId: expect.stringMatching(/^run_/),
      token: expect.any(String),
      expiresAt: expect.any(String),
    });
    const session = await new RunTokens(keys.secret).verify(String(body['token']));
    expect(session).toMatchObject({
      tenant: 'acme',
      runId: body['runId'],
      user: 'ada',
      permissions: ['orders:read'],
      phase: 'resolve',
    });
    const [row] = await database.query<{ ms: number }>(
      "SELECT (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS ms FROM runs WHERE id = $1 AND opened_by = 'bot'",
      [body['runId']],
    );
    expect(row?.ms).toBeGreaterThan(1_700_000);
    expect(row?.ms).toBeLessThanOrEqual(1_800_000);
  });

  it('opens a sandbox run, and says so in its token only then', async () => {
    const verify = async (body: object) => new RunTokens(keys.secret).verify(String((await open(body)).body['token']));
    expect(await verify({ ...good, sandbox: true })).toMatchObject({ sandbox: true });
    expect(await verify({ ...good, sandbox: false })).not.toHaveProperty('sandbox');
    const { status, body } = await open({ ...good, sandbox: 'yes' });
    expect([status, body['error']]).toMatchObject([
      400,
      { details: { problems: [{ pointer: '/sandbox', expected: 'true or false' }] } },
    ]);
  });

  it('gives a batch more time than a run somebody waits for', async () => {
    const [short, long] = await Promise.all([open(good), open({ ...good, profile: 'batch' })]);
    const gap = Date.parse(String(long.body['expiresAt'])) - Date.parse(String(short.body['expiresAt']));
    expect(Math.round(gap / 3_600_000)).toBe(11);
  });

  it('names every mistake of a message at once', async () => {
    const { status, headers, body } = await open({
      user: '',
      permissions: [1],
      profile: 'fast',
      ttl: '25h',
      tenant: 'umbrella',
    });
    expect(status).toBe(400);
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(body).toMatchObject({
      type: 'urn:intendant:error:invalid_message',
      title: 'Invalid message',
      status: 400,
      error: { code: 'invalid_message', nextAction: 'fix_arguments' },
    });
    const { details } = body['error'] as { details: { problems: { pointer: string }[] } };
    const pointers = details.problems.map(({ pointer }) => pointer).sort();
    expect(pointers).toEqual(['/permissions', '/profile', '/tenant', '/ttl', '/user']);
    expect(details.problems).toContainEqual({ pointer: '/profile', expected: 'one of interactive, batch' });
  });

  it.each(['__proto__', 'constructor'])('refuses a message with the member %s', async (name) => {
    const { status, body } = await open(`{"user":"ada","permissions":[],"profile":"batch","${name}":{"prototype":1}}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { code: 'invalid_message' } });
  });

  it('refuses budgets instead of ignoring them', async () => {
    const { status, body } = await open({ ...good, budgets: { calls: 3 } });
    expect(status).toBe(422);
    expect(body['detail']).toContain('not supported yet');
  });

  it('closes a run of its own tenant, as often as asked', async () => {
    const { body } = await open(good);
    const path = `/v1/runs/${body['runId']}/close`;
    expect((await gateway.call('POST', path, keys.otherService)).status).toBe(404);
    expect((await gateway.call('POST', path, keys.service)).status).toBe(204);
    expect((await gateway.call('POST', path, keys.service)).status).toBe(204);
    const [row] = await database.query('SELECT closed_at IS NOT NULL AS closed FROM runs WHERE id = $1', [
      body['runId'],
    ]);
    expect(row).toEqual({ closed: true });
    expect((await gateway.call('POST', '/v1/runs/run_1/close', keys.service)).status).toBe(404);
  });

  it('is for service keys only, and says so to everybody else', async () => {
    const token = await tokenFor('run_01JD8Q3M1A9S8D7F6G5H4J3K2Z');
    expect(await open(good, null)).toMatchObject({ status: 401, body: { error: { code: 'unauthenticated' } } });
    expect((await open(good, null)).headers.get('www-authenticate')).toBe('Bearer');
    expect(await open(good, 'wrong')).toMatchObject({
      status: 401,
      body: { detail: 'This service key is not known.' },
    });
    expect(await open(good, keys.operator)).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    expect(await open(good, token)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('A run token cannot') },
    });
  });
});
