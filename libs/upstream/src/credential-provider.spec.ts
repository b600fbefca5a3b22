import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CredentialProvider } from './credential-provider.js';
import { type CredentialRules, parseCredentials } from './credential-rules.js';
import { Egress } from './egress.js';
import { Upstreams } from './upstreams.js';

interface Asked {
  readonly authorization: string | undefined;
  readonly form: Readonly<Record<string, string>>;
}

/** A token endpoint over real HTTP: `tok_secret_1`, `tok_secret_2`, … unless it is told to answer otherwise. */
class TokenServer {
  readonly asked: Asked[] = [];
  lifetime: number | undefined = 3600;
  answer: ((asked: Asked) => { status: number; body: string }) | null = null;
  private constructor(private readonly server: Server) {}

  static async start(): Promise<TokenServer> {
    const server = createServer((request, reply) => {
      void text(request).then((body) => {
        const asked = {
          authorization: request.headers.authorization,
          form: Object.fromEntries(new URLSearchParams(body)),
        };
        made.asked.push(asked);
        const { status, body: said } = made.answer?.(asked) ?? { status: 200, body: made.good() };
        reply.writeHead(status, { 'content-type': 'application/json' }).end(said);
      });
    });
    const made = new TokenServer(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/token`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private good(): string {
    const token = `tok_secret_${this.asked.length}`;
    return JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: this.lifetime });
  }
}

let tokens: TokenServer;
let now = 0;
const open: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  tokens = await TokenServer.start();
  now = 0;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((part) => part.close()));
  await tokens.stop();
});

const rules = (more = '', url = tokens.url): CredentialRules =>
  parseCredentials(
    `ledger: { oauth: { tokenUrl: "${url}", clientId: "in:tendant", clientSecret: "cl ient+secret", ${more} } }`,
    {},
  );
function provider(given: CredentialRules = rules()): CredentialProvider {
  const made = new CredentialProvider(
    () => given,
    Egress.unlimited,
    () => now,
  );
  open.push(made);
  return made;
}
const run = (runId: string) => ({ tenant: 'acme', runId });

describe('an OAuth token', () => {
  test('is asked for as RFC 6749 says, with the secret in the header', async () => {
    const { header, secret } = await provider(rules('scope: "a b", audience: x')).get('ledger', run('run_1'));
    expect([header, secret]).toEqual([{ name: 'Authorization', value: 'Bearer tok_secret_1' }, 'tok_secret_1']);
    expect(tokens.asked).toEqual([
      {
        authorization: `Basic ${btoa('in%3Atendant:cl+ient%2Bsecret')}`,
        form: { grant_type: 'client_credentials', scope: 'a b', audience: 'x' },
      },
    ]);
  });

  test('or in the body', async () => {
    await provider(rules('auth: post')).get('ledger', run('run_1'));
    expect(tokens.asked).toEqual([
      {
        authorization: undefined,
        form: { grant_type: 'client_credentials', client_id: 'in:tendant', client_secret: 'cl ient+secret' },
      },
    ]);
  });

  test('belongs to one run and is asked for once, by however many calls at once', async () => {
    const credentials = provider();
    const secrets = await Promise.all(
      ['run_1', 'run_1', 'run_2', 'run_1'].map(async (id) => (await credentials.get('ledger', run(id))).secret),
    );
    expect(new Set([secrets[0], secrets[1], secrets[3]]).size).toBe(1);
    expect(secrets[2]).not.toBe(secrets[0]);
    expect((await credentials.get('ledger', run('run_1'))).secret).toBe(secrets[0]);
    expect(tokens.asked).toHaveLength(2);
  });

  test.each([
    { lifetime: 3600, until: 3_540_000 },
    { lifetime: 40, until: 30_000 },
    { lifetime: undefined, until: 45_000 },
  ])('that lives $lifetime s is renewed after $until ms', async ({ lifetime, until }) => {
    tokens.lifetime = lifetime;
    const credentials = provider();
    await credentials.get('ledger', run('run_1'));
    now = until - 1;
    expect(await credentials.get('ledger', run('run_1'))).toMatchObject({ secret: 'tok_secret_1', former: [] });
    now = until;
    expect(await credentials.get('ledger', run('run_1'))).toMatchObject({
      secret: 'tok_secret_2',
      former: ['tok_secret_1'],
    });
  });

  test('is forgotten when ten thousand other runs came after it', async () => {
    const credentials = provider();
    await credentials.get('ledger', run('first'));
    for (let batch = 0; batch < 100; batch++) {
      await Promise.all(Array.from({ length: 100 }, (_, n) => credentials.get('ledger', run(`${batch} ${n}`))));
    }
    await credentials.get('ledger', run('first'));
    expect(tokens.asked).toHaveLength(10_002);
  });

  test.each([
    {
      answers: '400 invalid_client',
      status: 400,
      body: '{"error":"invalid_client","error_description":"cl ient+secret"}',
    },
    { answers: '401', status: 401, body: '{"error":"cl ient+secret"}' },
    { answers: '500', status: 500, body: 'cl ient+secret' },
    { answers: '302', status: 302, body: '' },
    { answers: 'without an access token', status: 200, body: '{"token_type":"bearer"}' },
    { answers: 'without an access token', status: 200, body: 'null' },
    { answers: 'no bearer token', status: 200, body: '{"access_token":"tok_secret","token_type":"mac"}' },
    { answers: 'without an access token', status: 200, body: 'x'.repeat(100_000) },
  ])('that the endpoint does not give ($answers) is told without any secret, and asked for again', async (given) => {
    const { answers, status, body } = given;
    tokens.answer = () => ({ status, body });
    const credentials = provider();
    const failed = credentials.get('ledger', run('run_1'));
    await expect(failed).rejects.toThrow(answers);
    await expect(failed).rejects.not.toThrow(/secret/);
    tokens.answer = null;
    expect((await credentials.get('ledger', run('run_1'))).secret).toBe('tok_secret_2');
  });

  test('is waited for no longer than the call wants', async () => {
    const silent = await MisbehavingServer.start();
    silent.script({ at: 'request', then: 'hang' }, { at: 'request', then: 'hang' });
    const credentials = new CredentialProvider(() => rules('', silent.url), Egress.unlimited);
    const controller = new AbortController();
    const given = credentials.get('ledger', run('run_1'), controller.signal);
    await silent.seen(1);
    controller.abort();
    await expect(given).rejects.toThrow('given up');
    await silent.stop();
    await credentials.close();
  });
});

describe('a call with a credential', () => {
  let server: MisbehavingServer;
  beforeEach(async () => {
    server = await MisbehavingServer.start();
  });
  afterEach(() => server.stop());

  let attempts = 0;
  function upstreams(given: CredentialRules = rules(), egress = Egress.unlimited): Upstreams {
    const made = new Upstreams(() => null, { credentials: () => given, egress });
    open.push(made);
    return made;
  }
  const request = (credential: string, headers: Record<string, string> = {}) => ({
    tool: toolAt(server.url, { upstream: { credential, headers } }),
    args: {},
    key: 'k',
    intentId: 'i',
    tenant: 'acme',
    runId: 'run_1',
    attemptId: `a-${++attempts}`,
    sandbox: false,
  });
  const call = (made: Upstreams, credential = 'ledger', headers?: Record<string, string>) =>
    made.call(request(credential, headers), { mayStart: () => true });

  test('carries it in its header, and so does the lookup', async () => {
    const made = upstreams(parseCredentials('mail: { header: X-Api-Key, value: key-123456 }', {}));
    expect(await call(made, 'mail')).toMatchObject({ kind: 'executed' });
    server.script({ at: 'request', send: response(200, '[]'), then: 'keep' });
    expect(await made.lookup(request('mail'))).toEqual({ kind: 'absent' });
    expect(server.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['key-123456', 'key-123456']);
  });

  test('is not sent when the tool sets the same header', async () => {
    const verdict = await call(upstreams(), 'ledger', { authorization: 'other' });
    expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'request_mapping' });
    expect(server.requests).toHaveLength(0);
  });

  test('is not sent when there is none of that name', async () => {
    const made = upstreams();
    expect(await call(made, 'nobody')).toEqual({
      kind: 'not_executed',
      cause: 'credential_unavailable',
      transient: true,
      retryAfterMs: null,
      detail: 'there is no credential nobody',
      sent: false,
    });
    expect(await made.lookup(request('nobody'))).toMatchObject({ kind: 'cannot_tell' });
    expect(await made.poll({ ...request('nobody'), accepted: null })).toMatchObject({ kind: 'pending' });
  });

  test('is not sent when the token endpoint fails, and may be sent later', async () => {
    tokens.answer = () => ({ status: 503, body: '' });
    expect(await call(upstreams())).toMatchObject({
      kind: 'not_executed',
      cause: 'credential_unavailable',
      transient: true,
      sent: false,
    });
    expect(server.requests).toHaveLength(0);
  });

  test('is not sent when the token endpoint is where this deployment may not call', async () => {
    const egress = new Egress({ hosts: null, special: { ranges: [], hosts: [] } });
    expect(await call(upstreams(rules(), egress))).toMatchObject({
      kind: 'not_executed',
      cause: 'egress_refused',
      transient: false,
      sent: false,
    });
    expect(tokens.asked).toHaveLength(0);
  });

  test('that is answered 401 is not repeated; the next one carries another token', async () => {
    const made = upstreams();
    server.script({ at: 'request', send: response(401, 'tok_secret_1 has expired'), then: 'keep' });
    expect(await call(made)).toMatchObject({
      kind: 'not_executed',
      cause: 'http_401',
      transient: true,
      detail: '[redacted] has expired',
    });
    expect(server.requests).toHaveLength(1);
    server.script({ at: 'request', send: response(200, '{"was":"tok_secret_1","is":"tok_secret_2"}'), then: 'keep' });
    expect(await call(made)).toEqual({ kind: 'executed', data: { was: '[redacted]', is: '[redacted]' } });
    expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer tok_secret_1',
      'Bearer tok_secret_2',
    ]);
  });

  test('a lookup that is answered 401 makes the next one carry another token, too', async () => {
    const made = upstreams();
    server.script({ at: 'request', send: response(401), then: 'keep' });
    expect(await made.lookup(request('ledger'))).toMatchObject({ kind: 'cannot_tell' });
    server.script({ at: 'request', send: response(200, '[]'), then: 'keep' });
    expect(await made.lookup(request('ledger'))).toEqual({ kind: 'absent' });
    expect(tokens.asked).toHaveLength(2);
  });

  test('a 401 to a secret that stays the same is final', async () => {
    const made = upstreams(parseCredentials('mail: { bearer: key-123456 }', {}));
    server.script({ at: 'request', send: response(401), then: 'keep' });
    expect(await call(made, 'mail')).toMatchObject({ cause: 'http_401', transient: false });
  });
});
