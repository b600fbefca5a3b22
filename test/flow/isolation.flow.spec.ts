import { subjects } from '@intendant/contracts';
import { headers } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpClient } from './http-client.js';
import {
  type Caller,
  callersAround,
  type Kind,
  openVictim,
  slackClick,
  startShared,
  stateOf,
  type Victim,
} from './isolation.js';
import type { Stack } from './stack.js';

/**
 * What somebody else hears who may use the route: that there is no such thing, that it is not for them, or an answer
 * about what is their own.
 */
type Foreign = 404 | 403 | 'own';

interface Attempt {
  readonly path?: string;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly foreign: Foreign;
}

let stack: Stack;
let http: HttpClient;
let victim: Victim;
let callers: Caller[];
beforeAll(async () => {
  stack = await startShared();
  http = new HttpClient(() => stack.url);
  victim = await openVictim(stack, http);
  callers = await callersAround(victim, http);
});
afterAll(() => stack?.stop());

const call = () => ({ tool: 'effects.keyed', args: { ref: 'foreign' }, stepId: 'settled' });
const reason = 'isolation';
/** Of the shape of one, and of nothing that was asked. */
const digest = `${'x'.repeat(8)}.${'y'.repeat(43)}`;
const standing = { tool: 'effects.keyed', maxUses: 1, ttl: '1h', reason };

/** A message of revision 2026-07-28, which is answered with JSON. */
function mcpMessage(method: string, params: { name?: string; arguments?: object }): Attempt {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'isolation', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = {
    ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
    ...(params.name !== undefined && { 'mcp-name': params.name }),
  };
  return { body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, headers, foreign: 'own' };
}

/** What is tried at each route, in the order in which the rightful owner does it in the end. */
const routes: Readonly<Record<string, (of: Victim) => Attempt[]>> = {
  'GET /livez': () => [{ foreign: 'own' }],
  'GET /readyz': () => [{ foreign: 'own' }],
  'POST /v1/runs': () => [{ body: { user: 'eve', permissions: ['*'], profile: 'interactive' }, foreign: 'own' }],
  'GET /.well-known/oauth-protected-resource': () => [{ foreign: 'own' }],
  'GET /.well-known/oauth-protected-resource/mcp': () => [{ foreign: 'own' }],
  // What was asked about is named by the asker; that it is not theirs is said in the answer.
  'POST /mcp': ({ settled, waiting }) => [
    mcpMessage('tools/list', {}),
    mcpMessage('tools/call', { name: 'intendant.intent.get', arguments: { intentId: settled } }),
    mcpMessage('tools/call', { name: 'intendant.intent.cancel', arguments: { intentId: waiting } }),
    mcpMessage('tools/call', { name: 'intendant.result.get', arguments: { handle: `res_${settled}` } }),
  ],
  'GET /v1/tools': () => [{ foreign: 'own' }],
  'POST /v1/intents': () => [{ body: call(), foreign: 'own' }],
  'GET /v1/intents': ({ runId }) => [
    { foreign: 'own' },
    { path: `/v1/intents?runId=${runId}`, foreign: 'own' },
    { path: '/v1/intents?tenant=acme', foreign: 403 },
  ],
  'GET /v1/intents/{intentId}': ({ settled, waiting, dead }) =>
    [settled, waiting, dead].map((id) => ({ path: `/v1/intents/${id}`, foreign: 404 })),
  'GET /v1/intents/{intentId}/events': ({ settled, waiting, dead }) =>
    [settled, waiting, dead].map((id) => ({ path: `/v1/intents/${id}/events`, foreign: 404 })),
  'GET /v1/runs/{runId}/events': ({ runId }) => [
    { path: `/v1/runs/${runId}/events`, foreign: 404 },
    { path: `/v1/runs/${runId}/events`, headers: { accept: 'text/event-stream' }, foreign: 404 },
  ],
  'GET /v1/results/{handle}': ({ settled }) => [{ path: `/v1/results/res_${settled}`, foreign: 404 }],
  'GET /v1/decisions': () => [
    { path: '/v1/decisions?since=1h', foreign: 'own' },
    { path: '/v1/decisions?since=1h&tenant=acme', foreign: 403 },
  ],
  'GET /v1/approvals': () => [{ foreign: 'own' }, { path: '/v1/approvals?tenant=acme', foreign: 403 }],
  'GET /v1/approvals/{id}': ({ asked }) => [{ path: `/v1/approvals/${asked}`, foreign: 404 }],
  'POST /v1/approvals/{id}/approve': ({ asked }) => [
    { path: `/v1/approvals/${asked}/approve`, body: { digest }, foreign: 404 },
  ],
  'POST /v1/approvals/{id}/withdraw': ({ asked }) => [{ path: `/v1/approvals/${asked}/withdraw`, foreign: 404 }],
  // Each is answered by itself: to a stranger, that there is no such intent.
  'POST /v1/approvals/decide': ({ asked }) => [
    { body: { decisions: [{ id: asked, decision: 'approve', digest }] }, foreign: 'own' },
  ],
  'POST /v1/approvals/{id}/refuse': ({ asked }) => [
    { path: `/v1/approvals/${asked}/refuse`, body: { reason }, foreign: 404 },
  ],
  'GET /v1/dead-letters': () => [{ foreign: 'own' }],
  'GET /v1/dead-letters/{id}': ({ dead, message }) =>
    [dead, message].map((id) => ({ path: `/v1/dead-letters/${id}`, foreign: 404 })),
  'POST /v1/dead-letters/replay': ({ replayable, message }) =>
    [replayable, message].map((id) => ({ body: { ids: [id], reason }, foreign: 404 })),
  'POST /v1/dead-letters/{id}/dismiss': ({ message }) => [
    { path: `/v1/dead-letters/${message}/dismiss`, body: { reason }, foreign: 404 },
  ],
  'POST /v1/intents/{intentId}/resolve': ({ dead }) => [
    {
      path: `/v1/intents/${dead}/resolve`,
      body: { outcome: 'executed', externalId: 'x', evidence: reason },
      foreign: 404,
    },
  ],
  'POST /v1/intents/{intentId}/cancel': ({ waiting }) => [
    { path: `/v1/intents/${waiting}/cancel`, body: {}, foreign: 404 },
  ],
  'GET /v1/pauses': () => [{ foreign: 'own' }],
  'DELETE /v1/pauses/{pauseId}': ({ pause }) => [{ path: `/v1/pauses/${pause}`, foreign: 404 }],
  'PUT /v1/pauses': () => [
    { body: { tool: 'effects.keyonly', tenant: 'acme', reason }, foreign: 403 },
    { body: { tool: 'effects.keyonly', reason }, foreign: 'own' },
  ],
  'GET /v1/grants': () => [{ foreign: 'own' }, { path: '/v1/grants?tenant=acme', foreign: 403 }],
  'GET /v1/grants/{grantId}': ({ grant }) => [{ path: `/v1/grants/${grant}`, foreign: 404 }],
  'DELETE /v1/grants/{grantId}': ({ grant }) => [{ path: `/v1/grants/${grant}`, foreign: 404 }],
  'POST /v1/grants': () => [
    { body: { ...standing, tenant: 'acme' }, foreign: 403 },
    { body: standing, foreign: 'own' },
  ],
  // A pass looks after everybody, as it does by itself all the time; what it tells are numbers.
  'POST /v1/reconcile': () => [{ foreign: 'own' }],
  'POST /v1/runs/{runId}/phase': ({ runId }) => [
    { path: `/v1/runs/${runId}/phase`, body: { phase: 'resolve' }, foreign: 404 },
    { path: `/v1/runs/${runId}/phase`, body: { phase: null }, foreign: 404 },
  ],
  'POST /v1/runs/{runId}/close': ({ runId }) => [{ path: `/v1/runs/${runId}/close`, foreign: 404 }],
  'POST /v1/slack/interactions': ({ waiting }) => [
    { body: { type: 'block_actions' }, foreign: 404 },
    { ...slackClick(waiting, 'signing-secret-of-somebody-else'), foreign: 404 },
  ],
};

/** The same for what is asked for over NATS; codes instead of statuses. */
const requests: Readonly<Record<string, { readonly for: Kind; readonly tries: (of: Victim) => [object, Foreign][] }>> =
  {
    rpcSubmit: { for: 'runToken', tries: () => [[call(), 'own']] },
    rpcTools: { for: 'runToken', tries: () => [[{}, 'own']] },
    rpcReplayMessage: { for: 'operatorKey', tries: ({ message }) => [[{ id: message }, 404]] },
    rpcReconcile: { for: 'operatorKey', tries: () => [[{}, 'own']] },
    rpcPause: {
      for: 'operatorKey',
      tries: () => [
        [{ tool: 'effects.keyonly', tenant: 'acme', reason }, 403],
        [{ tool: 'effects.keyonly', reason }, 'own'],
      ],
    },
    rpcGiveGrant: {
      for: 'operatorKey',
      tries: () => [
        [{ ...standing, tenant: 'acme' }, 403],
        [standing, 'own'],
      ],
    },
    rpcOpenRun: {
      for: 'serviceKey',
      tries: () => [[{ user: 'eve', permissions: ['*'], profile: 'interactive' }, 'own']],
    },
  };

interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Empty: for everybody. */
  readonly kinds: readonly Kind[];
}

async function documented(): Promise<Route[]> {
  const { paths } = (await http.http('GET', '/openapi.json', null)).body as {
    paths: Record<string, Record<string, { security?: Partial<Record<Kind, unknown>>[] }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security = [] }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      kinds: security.flatMap((each) => Object.keys(each) as Kind[]),
    })),
  );
}

const isAllowed = (status: number) => status >= 200 && status < 300;
/** Nothing of the victim: not what it wrote, and none of its ids or tokens but those that the asker said itself. */
function expectNothingOf(
  { mark, runId, settled, waiting, dead, message, grant, credentials }: Victim,
  text: string,
  why: string,
) {
  for (const secret of [mark, runId, settled, waiting, dead, message, grant, credentials.runToken]) {
    expect(text.includes(secret) && !why.includes(secret), `${why}: ${text.slice(0, 500)}`).toBe(false);
  }
}

test('every route of the API and every request subject has its tries here', async () => {
  expect(Object.keys(routes).sort()).toEqual((await documented()).map(({ name }) => name).sort());
  expect(Object.keys(requests).sort()).toEqual(
    Object.keys(subjects)
      .filter((name) => name.startsWith('rpc'))
      .sort(),
  );
});

test('over HTTP nobody reads or changes anything of another run or tenant', async () => {
  for (const { name, method, path, kinds } of await documented()) {
    for (const attempt of routes[name]?.(victim) ?? []) {
      const before = await stateOf(stack, victim);
      for (const caller of callers) {
        const { body, headers } = attempt;
        const why = `${name} ${attempt.path ?? ''} ${JSON.stringify(body ?? null)} by ${caller.who}`;
        const answer = await http.http(method, attempt.path ?? path, caller.credential, {
          ...(body && { body }),
          ...(headers && { headers }),
        });
        if (kinds.length === 0) expect(answer.status, why).toBe(200);
        else if (caller.kind === null || !kinds.includes(caller.kind)) expect([401, 403], why).toContain(answer.status);
        else if (attempt.foreign !== 'own') expect(answer.status, why).toBe(attempt.foreign);
        else if (caller.homeless) expect(answer.status, why).toBe(401);
        else expect(isAllowed(answer.status), `${why}: ${JSON.stringify(answer.body)}`).toBe(true);
        expectNothingOf(victim, JSON.stringify(answer.body), why);
      }
      expect(await stateOf(stack, victim), `${name} changed something`).toEqual(before);
    }
  }
});

test('over NATS nobody reads or changes anything of another run or tenant', async () => {
  for (const [name, { for: kind, tries }] of Object.entries(requests)) {
    const subject = subjects[name as keyof typeof subjects] as string;
    for (const [body, foreign] of tries(victim)) {
      const before = await stateOf(stack, victim);
      for (const caller of callers) {
        const why = `${name} ${JSON.stringify(body)} by ${caller.who}`;
        const text = await askAs(caller.credential, subject, body);
        const { error } = JSON.parse(text) as { error?: { code: string } | null };
        const code = error?.code ?? null;
        if (caller.kind !== kind) expect(code, why).toBe('unauthenticated');
        else if (foreign === 404) expect(code, why).toBe('not_found');
        else if (foreign === 403) expect(code, why).toBe('forbidden');
        else expect(code, why).toBe(caller.homeless ? 'unauthenticated' : null);
        expectNothingOf(victim, text, why);
      }
      expect(await stateOf(stack, victim), `${name} changed something`).toEqual(before);
    }
  }
});

test('a submission on the subject of another tenant, or with a token that is not good, is in nobody’s run', async () => {
  const agent = await stack.agent();
  const before = await stateOf(stack, victim);
  const body = { ...call(), stepId: 'published' };
  for (const { credential, who } of callers) {
    await agent.publish(JSON.stringify({ ...body, args: { ref: who } }), 'acme', credential ?? '');
  }
  // Behind all of them, so they are dealt with when this one is.
  await agent.publish(JSON.stringify(body), 'acme');
  await expect.poll(() => stack.store.intents.list({ runId: agent.runId, limit: 10 })).toHaveLength(1);
  expect(await stateOf(stack, victim)).toEqual(before);
});

test('whoever may do each of these things can: it was not refused for another reason', async () => {
  for (const [name, tries] of Object.entries(routes)) {
    const route = (await documented()).find((each) => each.name === name);
    const [kind] = route?.kinds ?? [];
    if (kind === 'slackSignature') {
      expect((await http.http('POST', route?.path ?? '', null, slackClick(victim.waiting))).status, name).toBe(200);
      continue;
    }
    for (const { path, body, headers } of tries(victim)) {
      // A stream of a run that goes on has no end.
      if (headers?.['accept'] === 'text/event-stream') continue;
      const credential = kind === undefined ? null : victim.credentials[kind];
      const { status, body: answer } = await http.http(
        name.split(' ')[0] ?? '',
        path ?? route?.path ?? '',
        credential,
        { ...(body && { body }), ...(headers && { headers }) },
      );
      expect([401, 403, 404], `${name}: ${JSON.stringify(answer)}`).not.toContain(status);
      expect(status, name).toBeLessThan(500);
    }
  }
});

async function askAs(credential: string | null, subject: string, body: object): Promise<string> {
  const head = headers();
  if (credential !== null) head.set('Authorization', `Bearer ${credential}`);
  const reply = await stack.bus.request(subject, JSON.stringify(body), { headers: head, timeout: 30_000 });
  return reply.string();
}
