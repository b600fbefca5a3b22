import path from 'node:path';
import { createLogger } from '@intendant/runtime';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environment, keys, startGateway, type TestGateway, tokenFor } from './gateway.spec-helper.js';
import { serve } from './serve.js';

interface Found {
  readonly at: string;
  readonly schema: Record<string, unknown>;
}

/** Every schema that says a type, by where it stands. */
function* schemasIn(value: unknown, at: string): Generator<Found> {
  if (typeof value !== 'object' || value === null) return;
  const schema = value as Record<string, unknown>;
  if (typeof schema['type'] === 'string' || Array.isArray(schema['type'])) yield { at, schema };
  for (const [name, part] of Object.entries(schema)) {
    if (name === 'example') continue;
    yield* schemasIn(part, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

function isVague({ type, properties, additionalProperties }: Found['schema']): boolean {
  return type === 'object' && properties === undefined && additionalProperties === undefined;
}

describe('the gateway', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), createDatabase()]);
    gateway = await startGateway(environment(database.url, nats.url));
  });
  afterAll(async () => {
    await gateway?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
  });

  it.each([
    ['GET', '/v1/nothing', undefined, 404, 'not_found'],
    ['POST', '/v1/runs', '{"user":', 400, 'invalid_message'],
    ['POST', '/v1/runs', '[]', 400, 'invalid_message'],
    ['POST', '/v1/runs', '', 400, 'invalid_message'],
    ['GET', '/v1/runs/run_1/nothing', undefined, 404, 'not_found'],
  ])('answers %s %s %s with a problem', async (method, path, body, status, code) => {
    const answer = await gateway.call(method, path, keys.service, body === undefined ? {} : { body });
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer).toMatchObject({ status, body: { type: `urn:intendant:error:${code}`, status, error: { code } } });
    expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|\.js:|\.ts:/);
  });

  it('answers a body that is too large with 413, wherever it is sent to', async () => {
    const { body } = await gateway.call('GET', '/openapi.json', null);
    const paths = Object.entries(body['paths'] as Record<string, object>);
    const routes = paths.flatMap(([path, methods]) =>
      Object.keys(methods).flatMap((method) => (method === 'get' ? [] : [[method.toUpperCase(), path] as const])),
    );
    expect(routes.length).toBeGreaterThan(15);
    const large = JSON.stringify({ x: 'x'.repeat(262_144) });
    for (const [method, path] of [...routes, ['POST', '/v1/nothing'] as const]) {
      const answer = await gateway.call(method, path.replace(/\{\w+\}/, 'x'), keys.service, { body: large });
      expect([path, answer.status], path).toEqual([path, path === '/v1/nothing' ? 404 : 413]);
      if (path === '/mcp' || path === '/v1/nothing') continue;
      const problem = { status: 413, error: { code: 'invalid_message', details: { limit: 262_144 } } };
      expect(answer.body, path).toMatchObject(problem);
      expect(answer.body['detail']).toMatch(/too large: 262144 bytes at most/);
    }
  });

  it('is alive and ready, and says what is missing when it is not', async () => {
    expect(await gateway.call('GET', '/livez', null)).toMatchObject({ status: 200, body: { status: 'alive' } });
    expect(await gateway.call('GET', '/readyz', null)).toMatchObject({
      status: 200,
      body: { checks: { database: 'ok', bus: 'ok' } },
    });
  });

  it('describes all of its routes, their credentials and their problems', async () => {
    const { body } = await gateway.call('GET', '/openapi.json', null);
    expect(body['openapi']).toBe('3.1.0');
    const paths = body['paths'] as Record<
      string,
      Record<string, { security?: object[]; responses: Record<string, object> }>
    >;
    expect(
      Object.entries(paths)
        .flatMap(([path, methods]) => Object.keys(methods).map((m) => `${m} ${path}`))
        .sort(),
    ).toEqual([
      'delete /v1/grants/{grantId}',
      'delete /v1/pauses/{pauseId}',
      'get /.well-known/oauth-protected-resource',
      'get /.well-known/oauth-protected-resource/mcp',
      'get /livez',
      'get /readyz',
      'get /v1/approvals',
      'get /v1/approvals/{id}',
      'get /v1/dead-letters',
      'get /v1/dead-letters/{id}',
      'get /v1/decisions',
      'get /v1/grants',
      'get /v1/grants/{grantId}',
      'get /v1/intents',
      'get /v1/intents/{intentId}',
      'get /v1/intents/{intentId}/events',
      'get /v1/pauses',
      'get /v1/results/{handle}',
      'get /v1/runs/{runId}/events',
      'get /v1/tools',
      'post /mcp',
      'post /v1/approvals/decide',
      'post /v1/approvals/{id}/approve',
      'post /v1/approvals/{id}/refuse',
      'post /v1/approvals/{id}/withdraw',
      'post /v1/dead-letters/replay',
      'post /v1/dead-letters/{id}/dismiss',
      'post /v1/grants',
      'post /v1/intents',
      'post /v1/intents/{intentId}/cancel',
      'post /v1/intents/{intentId}/resolve',
      'post /v1/reconcile',
      'post /v1/runs',
      'post /v1/runs/{runId}/close',
      'post /v1/runs/{runId}/phase',
      'post /v1/slack/interactions',
      'put /v1/pauses',
    ]);
    const submit = paths['/v1/intents']?.['post'];
    expect(submit?.security).toEqual([{ runToken: [] }]);
    expect(Object.keys(submit?.responses ?? {}).sort()).toEqual([
      '200',
      '202',
      '400',
      '401',
      '403',
      '404',
      '409',
      '422',
      '423',
      '429',
      '503',
    ]);
    expect(JSON.stringify(submit?.responses['503'])).toContain('application/problem+json');
    const used = [...JSON.stringify(body).matchAll(/#\/components\/schemas\/(\w+)/g)].map((match) => match[1]);
    const { schemas } = body['components'] as { schemas: object };
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining([...new Set(used)]));
  });

  it('says of everything what it is, and gives no example that is something else', async () => {
    const { body } = await gateway.call('GET', '/openapi.json', null);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(body, 'api');
    const schemas = [...schemasIn(body, 'api#')];
    // What a field that may be null becomes where nobody says its type.
    expect(schemas.filter(({ schema }) => isVague(schema)).map(({ at }) => at)).toEqual([]);
    for (const { at, schema } of schemas) {
      const examples = [schema['example'], schema['examples']].flat().filter((example) => example !== undefined);
      const list = schema['type'] === 'array' ? [schema['example'] ?? []] : examples;
      for (const each of list) expect([at, each, ajv.validate({ $ref: at }, each)]).toEqual([at, each, true]);
    }
  });

  it.each(['openapi', 'asyncapi'])(
    'serves the %s document that is on the disk, which npm run writes by that name',
    async (name) => {
      const response = await fetch(`${gateway.url}/${name}.json`);
      expect(response.headers.get('content-type')).toContain('application/json');
      const onDisk = path.join(import.meta.dirname, `../../../docs/${name}.json`);
      await expect(`${JSON.stringify(await response.json(), null, 2)}\n`).toMatchFileSnapshot(onDisk);
    },
  );

  it('shows its API on a page that needs no other host', async () => {
    const page = await fetch(`${gateway.url}/docs`).then((response) => response.text());
    expect(page).not.toMatch(/(src|href)="https?:/);
    const script = await fetch(`${gateway.url}/docs/swagger-ui-bundle.js`);
    expect([script.status, script.headers.get('content-type')]).toEqual([200, expect.stringContaining('javascript')]);
    await script.body?.cancel();
  });

  it('tells a database that is away from a failure of its own', async () => {
    const lost = await createDatabase();
    const other = await startGateway(environment(lost.url, nats.url));
    await lost.drop();
    const token = await tokenFor('run_01JD8Q3M1A9S8D7F6G5H4J3K2Z');
    const answer = await other.call('GET', '/v1/intents/01JD8Q4Y6V2N7XK3T5W9ZB1CEF', token);
    expect((await other.call('GET', '/readyz', null)).status).toBe(503);
    await other.close();
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
  });

  it('does not start on a port that is in use', async () => {
    const port = new URL(gateway.url).port;
    const env = { ...environment(database.url, nats.url), INTENDANT_HTTP_PORT: port };
    await expect(serve(env, createLogger('gateway', 'silent'))).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('does not start without its database or its bus', async () => {
    const start = (databaseUrl: string, natsUrl: string) =>
      serve(environment(databaseUrl, natsUrl), createLogger('gateway', 'silent'));
    await expect(start('postgres://a:b@127.0.0.1:1/x', nats.url)).rejects.toThrow(/no database answers at 127.0.0.1:1/);
    await expect(start(database.url, 'nats://127.0.0.1:1')).rejects.toThrow(/cannot be reached/);
  });
});
