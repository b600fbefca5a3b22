import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from './clients.js';
import { eventually } from './eventually.js';
import { everyRow } from './every-row.js';
import { Stack } from './stack.js';

const secrets = {
  bearer: 'bearer-planted/1+x=',
  header: 'header-planted"2 & more',
  basic: 'basic-planted:3',
  client: 'client-planted-4%',
  own: 'own-planted-5',
} as const;
const kinds = ['bearer', 'header', 'basic', 'oauth', 'own'] as const;
/** What the upstream does with a call, and repeats everything it was given while it does. */
const ways = ['ok', 'refused', 'unauthorized', 'failed', 'accepted', 'words', 'cut', 'lost', 'rejected'] as const;

/** An upstream, with the token endpoint in front of it, that gives away whatever it is told. */
class TalkativeUpstream {
  tokens = 0;
  private readonly calls = new Map<string, string>();

  private constructor(private readonly server: Server) {
    server.on('request', (request, reply) => void this.serve(request, reply));
  }

  static async start(): Promise<TalkativeUpstream> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TalkativeUpstream(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const body = await text(request);
    const url = new URL(`http://upstream${request.url}`);
    const said = JSON.stringify({ effect_id: 'e1', ...echo(request), body });
    const send = (status: number, content = said) =>
      reply.writeHead(status, { 'x-echo': encodeURIComponent(said), 'content-type': 'application/json' }).end(content);
    if (url.pathname === '/token') {
      this.tokens += 1;
      // The first one fails and says what it was given.
      if (this.tokens === 1) return void send(500);
      const token = { access_token: `token-planted-${this.tokens}`, token_type: 'bearer', expires_in: 3600 };
      return void send(200, JSON.stringify(token));
    }
    const key = url.searchParams.get('key');
    if (key !== null) {
      const called = this.calls.get(key);
      return void (url.pathname === '/lost' ? send(500) : send(200, JSON.stringify([{ ...JSON.parse(said), called }])));
    }
    this.calls.set(String(request.headers['idempotency-key']), String(request.headers.authorization));
    switch (url.pathname.slice(1) as (typeof ways)[number]) {
      case 'ok':
        return void send(200);
      case 'refused':
        return void send(400);
      case 'unauthorized':
        return void send(401, `<p>${said.replaceAll('"', '&quot;')}</p>`);
      case 'failed':
      case 'lost':
        return void send(500);
      case 'accepted':
        return void send(202);
      case 'words':
        return void send(200, `done: ${said}`);
      case 'cut':
        return void reply.writeHead(200, { 'content-length': '100000' }).write(said, () => reply.destroy());
      case 'rejected':
        return void send(200, said.replace('"effect_id"', '"other"'));
    }
  }
}

/** Everything that came in the headers, in many ways. */
function echo({ headers }: IncomingMessage): Record<string, unknown> {
  const all = Object.values(headers).map(String);
  const bare = all.map((value) => value.replace(/^\w+ /, ''));
  return {
    headers,
    bare,
    decoded: bare.map((value) => Buffer.from(value, 'base64').toString('latin1')),
    base64: bare.map((value) => btoa(value)),
    escaped: bare.map(encodeURIComponent),
    [`key ${headers.authorization ?? headers['x-api-key'] ?? ''}`]: `within ${all.join(' and ')} text`,
  };
}

let stack: Stack;
let upstream: TalkativeUpstream;
let directory: string;
const onTheBus: string[] = [];
const overHttp: string[] = [];

beforeAll(async () => {
  upstream = await TalkativeUpstream.start();
  directory = await mkdtemp(path.join(os.tmpdir(), 'secrets-'));
  for (const kind of kinds) {
    for (const way of ways) await writeFile(path.join(directory, `${kind}.${way}.tool.yaml`), tool(kind, way));
  }
  const credentials = {
    bearer: { bearer: secrets.bearer },
    header: { header: 'X-Api-Key', value: secrets.header },
    basic: { basic: { user: 'robot', password: secrets.basic } },
    oauth: {
      oauth: { tokenUrl: `${upstream.url}/token`, clientId: 'us', clientSecret: secrets.client },
    },
  };
  const file = path.join(directory, 'credentials.json');
  await writeFile(file, JSON.stringify(credentials));
  stack = await Stack.start({
    services: ['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler'],
    toolsDir: directory,
    env: {
      INTENDANT_CREDENTIALS_FILE: file,
      INTENDANT_LOG_LEVEL: 'trace',
      OWN_SECRET: secrets.own,
      TALKATIVE_URL: upstream.url,
    },
  });
  stack.bus.subscribe('>', {
    callback: (_, message) => {
      onTheBus.push(`${message.subject} ${message.headers} ${message.string()}`);
    },
  });
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.stop();
  await rm(directory, { recursive: true });
});

function tool(kind: (typeof kinds)[number], way: (typeof ways)[number]): string {
  const access = kind === 'own' ? 'headers: { Authorization: "Bearer ${OWN_SECRET}" }' : `credential: ${kind}`;
  return `
apiVersion: intendant/v1
name: ${kind}.${way}
version: 1
description: Test tool of an upstream that repeats what it is told.
effect: write
permission: test:use
input: { type: object, additionalProperties: false, required: [ref], properties: { ref: { type: string } } }
output: { type: object, required: [effect_id], properties: { effect_id: { type: string } } }
limits: { connect: 5s, call: 15s, concurrency: 64 }
retry: { attempts: 2, backoff: 50ms }
upstream:
  http: { baseUrl: "\${TALKATIVE_URL}", method: POST, path: /${way}, body: "$args", ${access} }
  guarantee: lookup
  maxProcessing: 100ms
  settle: 200ms
  lookup: { path: "/${way}?key={{key}}", present: "$count(data) > 0", receipt: "data[0]", authoritative: true, spacing: 100ms, deadline: ${way === 'lost' ? '1s' : '60s'} }
`;
}

async function askAbout(agent: Agent, intentId: string): Promise<string> {
  const answers = [
    await agent.getHttp(`/v1/intents/${intentId}`),
    await agent.getHttp(`/v1/intents/${intentId}/events`),
    await stack.operator().get(`/v1/dead-letters/${intentId}`),
  ];
  overHttp.push(...answers.map((answer) => JSON.stringify(answer)));
  return JSON.stringify(answers[0]?.body);
}

/** Where a planted secret, or its base64, stands in these texts. */
function leaks(texts: readonly string[]): string[] {
  const forms = Object.values(secrets).flatMap((secret) => [btoa(secret).replace(/=+$/, ''), btoa(`robot:${secret}`)]);
  const planted = new RegExp(['planted', ...forms].map((form) => form.replace(/[+/=]/g, '\\$&')).join('|'));
  return texts.filter((each) => planted.test(each)).map((each) => each.slice(0, 2_000));
}

test('a credential that an upstream repeats appears in no event, answer, message or log line', async () => {
  const agent = await stack.agent();
  // The first token is refused; the attempt is not sent and made again.
  const calls = kinds.flatMap((kind) => ways.map((way) => ({ kind, way })));
  const states = await Promise.all(
    calls.map(async ({ kind, way }) => {
      const answer = await agent.submit(`${kind}.${way}`, { ref: way }, { stepId: `${kind}.${way}`, wait: '20s' });
      overHttp.push(JSON.stringify(answer));
      const state = await stack.settled(answer.intentId, 60_000);
      const seen = await askAbout(agent, answer.intentId);
      if (way === 'ok' || way === 'failed') expect(seen).toContain('[redacted]');
      return `${kind} ${way} ${state}`;
    }),
  );
  overHttp.push(JSON.stringify(await stack.operator().get('/v1/intents')));
  overHttp.push(JSON.stringify(await stack.operator().get('/v1/dead-letters')));

  // The secrets did reach the upstream, and it did repeat them: every call ended by what it said.
  const ends = { refused: 'failed', unauthorized: 'failed', lost: 'dead_lettered' } as const;
  expect(states).toEqual(
    calls.map(({ kind, way }) => `${kind} ${way} ${(ends as Record<string, string>)[way] ?? 'committed'}`),
  );
  expect(upstream.tokens).toBeGreaterThan(2);
  await eventually(
    'the events of all calls on the bus',
    () => calls.length <= onTheBus.filter((each) => each.startsWith('intendant.events.')).length,
  );

  const rows = await everyRow(stack.database);
  const logs = stack.services.flatMap(({ log }) => log);
  expect(rows.length).toBeGreaterThan(calls.length);
  expect(logs.length).toBeGreaterThan(calls.length);
  expect({
    database: leaks(rows),
    http: leaks(overHttp),
    bus: leaks(onTheBus),
    logs: leaks(logs),
  }).toEqual({ database: [], http: [], bus: [], logs: [] });
}, 120_000);
