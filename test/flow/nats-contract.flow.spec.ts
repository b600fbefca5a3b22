import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type IntentCloudEvent, streams, subjects } from '@intendant/contracts';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startUpstream, type Upstream } from '../../examples/upstream/server.js';
import type { Agent } from './clients.js';
import { eventually } from './eventually.js';
import { type Document, type Heard, NatsContract } from './nats-contract.js';
import { Stack, serviceKey } from './stack.js';

/** Everything that the bus carries, in order. */
const heard: Heard[] = [];
const toolsDir = mkdtempSync(path.join(os.tmpdir(), 'nats-contract-'));
let stack: Stack;
let sandbox: Upstream;
let wire: NatsConnection;
let document: Document;
beforeAll(async () => {
  for (const folder of ['tools', 'tools-results', 'tools-sandbox']) {
    cpSync(path.join(import.meta.dirname, folder), toolsDir, { recursive: true });
  }
  sandbox = await startUpstream();
  stack = await Stack.start({ toolsDir, env: { SECOND_UPSTREAM_URL: sandbox.url }, services: [] });
  wire = await connect({ servers: stack.nats.url });
  wire.subscribe('>', {
    callback: (_, { subject, reply = '', headers: head, data }) => {
      const pairs = [...(head ?? [])].map(([name, [value = '']]) => [name, value] as const);
      heard.push({ subject, reply, headers: Object.fromEntries(pairs), body: new TextDecoder().decode(data) });
    },
  });
  await wire.flush();
  await stack.launch('standalone');
  document = (await (await fetch(`${stack.url}/asyncapi.json`)).json()) as Document;
});
afterAll(async () => {
  await wire?.close();
  await stack?.stop();
  await sandbox?.close();
  rmSync(toolsDir, { recursive: true, force: true });
});

/** The public events about an intent that were heard, by name. */
function toldOf(intentId: string): string[] {
  const of = (subject: string) => subject.startsWith('intendant.events.') && subject.includes(intentId);
  return heard
    .filter(({ subject, reply }) => of(subject) && !reply.startsWith('$JS.ACK.'))
    .map(({ subject }) => subject.split('.').at(-1) ?? '');
}
const told = (intentId: string, ...names: string[]) =>
  eventually(`${names} of ${intentId}`, () => names.every((name) => toldOf(intentId).includes(name)), 25_000);

const submit = (agent: Agent, tool: string, ref: string, wait = '20s') =>
  agent.submit(tool, { ref: `${agent.runId} ${ref}` }, { stepId: ref, wait });
const behave = (agent: Agent, ref: string, behaviour: Parameters<Stack['upstream']['behave']>[0]['behaviour']) =>
  stack.upstream.behave({ match: { bodyContains: `${agent.runId} ${ref}` }, behaviour });

function headersOf(values: Readonly<Record<string, string>>): MsgHdrs {
  const head = headers();
  for (const [name, value] of Object.entries(values)) head.set(name, value);
  return head;
}

async function ask(subject: string, payload: string, more: Record<string, string>): Promise<string> {
  return (await stack.bus.request(subject, payload, { headers: headersOf(more), timeout: 30_000 })).string();
}

describe('what agents and services say to each other', () => {
  test('is done: every kind of submit, answer and event', async () => {
    const [publish] = await Promise.all([everyRequest(), everyEvent(), everyResult()]);
    await refusedStorage(publish);
  }, 90_000);

  test('is all in the AsyncAPI document, and all of the document was said', () => {
    const contract = new NatsContract(document);
    for (const message of heard) contract.hear(message);
    contract.end();
    expect(contract.problems).toEqual([]);
    expect([...contract.found].sort()).toEqual(Object.keys(document.components.messages).sort());
  });

  test('is noticed where the document does not know it', () => {
    const event = heard.find(({ subject }) => subject.endsWith('.committed')) as Heard;
    const body = JSON.parse(event.body) as IntentCloudEvent;
    const wrong: [Partial<Heard>, RegExp][] = [
      [{ subject: 'intendant.events.acme.run.approved' }, /on no channel/],
      [{ subject: event.subject.replace('committed', 'approved') }, /on no channel/],
      [{ subject: event.subject.replace('committed', 'failed') }, /type must be equal to one of/],
      [{ body: JSON.stringify({ ...body, colour: 'red' }) }, /unevaluated.*colour/],
      [{ body: JSON.stringify({ ...body, data: { ...body.data, colour: 'red' } }) }, /data.*unevaluated.*colour/],
      [{ body: JSON.stringify({ ...body, data: { ...body.data, handle: undefined } }) }, /handle/],
      [{ headers: { 'Nats-Msg-Id': body.id } }, /Content-Type/],
      [{ headers: { ...event.headers, Colour: 'red' } }, /Colour/],
      [{ subject: 'intendant.rpc.get' }, /on no channel/],
    ];
    for (const [change, problem] of wrong) {
      const contract = new NatsContract(document);
      contract.hear({ ...event, ...change });
      contract.end();
      expect([change, contract.problems.join()]).toEqual([change, expect.stringMatching(problem)]);
    }
  });
});

test('events are CloudEvents 1.0 in structured mode', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajvFormats.default(ajv);
  const isCloudEvent = ajv.compile(cloudEvents);
  const events = heard.filter(
    ({ subject, reply }) => subject.startsWith('intendant.events.') && !reply.startsWith('$JS'),
  );
  expect(events.length).toBeGreaterThan(10);
  for (const { subject, headers: head, body } of events) {
    const event = JSON.parse(body) as IntentCloudEvent;
    isCloudEvent(event);
    expect([subject, isCloudEvent.errors]).toEqual([subject, null]);
    expect(head).toEqual({ 'Content-Type': 'application/cloudevents+json', 'Nats-Msg-Id': event.id });
    expect(Buffer.from(body, 'utf8').toString('utf8')).toBe(body);
  }
  // Source and id together name one event, whoever has published it.
  const ids = new Map(events.map(({ subject, body }) => [(JSON.parse(body) as IntentCloudEvent).id, subject]));
  for (const { subject, body } of events) expect(ids.get((JSON.parse(body) as IntentCloudEvent).id)).toBe(subject);
});

/** Of CloudEvents 1.0.2: required attributes, their types, names of extensions and the types that these may have. */
const filled = { type: 'string', minLength: 1 };
const cloudEvents = {
  type: 'object',
  required: ['id', 'source', 'specversion', 'type'],
  propertyNames: { pattern: '^[a-z0-9]{1,20}$' },
  properties: {
    id: filled,
    source: { ...filled, format: 'uri-reference' },
    specversion: { const: '1.0' },
    type: { ...filled, pattern: '^intendant\\.' },
    datacontenttype: { const: 'application/json' },
    dataschema: { ...filled, format: 'uri' },
    subject: filled,
    time: { ...filled, format: 'date-time' },
    data: {},
  },
  additionalProperties: { type: ['string', 'boolean', 'integer'], pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' },
};

async function everyRequest(): Promise<() => Promise<unknown>> {
  const runtime = { Authorization: `Bearer ${serviceKey}` };
  const wanted = {
    ...{ user: 'ada', permissions: ['test:*', 'orders:*'], profile: 'interactive', ttl: '10m' },
    ...{ sandbox: false, budgets: { calls: 5, mutating: 3, destructive: 1, cost: 10.5, wallClock: 'PT5M' } },
    restrict: [{ tools: ['effects.*'], allow: 'args.ref != "never"', message: 'Anything but never.' }],
  };
  const opened = JSON.parse(await ask(subjects.rpcOpenRun, JSON.stringify(wanted), runtime)) as { token: string };
  for (const bad of [{ ...wanted, tenant: 'umbrella' }, { ...wanted, profile: 'slow' }, 7]) {
    await ask(subjects.rpcOpenRun, JSON.stringify(bad), runtime);
  }
  await ask(subjects.rpcOpenRun, JSON.stringify(wanted), { Authorization: `Bearer ${opened.token}` });

  const token = { Authorization: `Bearer ${opened.token}` };
  for (const query of ['', '{}', '{"query":"order","namespace":"orders"}', '{"query":7}']) {
    await ask(subjects.rpcTools, query, token);
  }
  await ask(subjects.rpcTools, '', {});

  const call = { tool: 'effects.keyed', args: { ref: 'request' }, stepId: 's1', toolVersion: 1, sandbox: false };
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  const told = { ...token, ...trace, 'Intendant-Wait': '20s' };
  await ask(subjects.rpcSubmit, JSON.stringify(call), told);
  await ask(subjects.rpcSubmit, JSON.stringify({ ...call, stepId: undefined }), { ...told, 'Intendant-Step': 's1' });
  await ask(subjects.rpcSubmit, JSON.stringify({ ...call, stepId: null, toolVersion: null }), token);
  for (const [bad, with_] of [
    [{ ...call, args: { ref: 'other' } }, token],
    [{ ...call, stepId: 's2', args: { ref: 7 } }, token],
    [{ ...call, tool: 'effects.keyde' }, token],
    [{ ...call, sandbox: true }, token],
    [{ ...call, tenant: 'umbrella' }, token],
    ['not JSON', token],
    [call, {}],
    [call, { ...token, 'Intendant-Wait': 'long' }],
  ] as const) {
    await ask(subjects.rpcSubmit, typeof bad === 'string' ? bad : JSON.stringify(bad), with_);
  }

  const submission = JSON.stringify({ ...call, stepId: 'published' });
  const publish = (msgID?: string) =>
    jetstream(stack.bus).publish(subjects.intents('acme'), submission, {
      headers: headersOf({ ...token, ...trace }),
      ...(msgID && { msgID }),
    });
  for (const duplicate of [false, true]) expect(await publish('published-twice')).toMatchObject({ duplicate });
  return publish;
}

/** A stream that is full takes nothing, and says so. */
async function refusedStorage(publish: () => Promise<unknown>): Promise<void> {
  const manager = await jetstreamManager(stack.bus);
  const { config } = await manager.streams.info(streams.intents);
  await manager.streams.update(streams.intents, { max_bytes: 1 });
  await expect(publish()).rejects.toThrow(/maximum bytes/);
  await manager.streams.update(streams.intents, { max_bytes: config.max_bytes });
}

async function everyEvent(): Promise<void> {
  const agent = await stack.agent();
  const committed = await submit(agent, 'effects.keyed', 'committed');
  const denied = await submit(await stack.agent({ permissions: ['nothing'] }), 'effects.keyed', 'denied');
  behave(agent, 'failed', { commit: false, then: 'status:422' });
  const failed = await submit(agent, 'effects.keyed', 'failed');
  const cancelled = await submit(agent, 'effects.approved', 'cancelled', '0s');
  await agent.cancelHttp(cancelled.intentId);

  const reason = 'being looked at';
  await stack.ask(subjects.rpcPause, { tool: 'effects.mapped', reason });
  const short = await stack.agent({}, 2_000);
  await submit(short, 'effects.mapped', 'paused', '0s');
  await short.publish(JSON.stringify({ tool: 'effects.mapped', args: { ref: 'expired' }, stepId: 'expired' }));
  const expired = await eventually('it was recorded', async () => {
    return (await stack.store.intents.list({ runId: short.runId, limit: 10 }))[0];
  });

  behave(agent, 'dead', { then: 'reset' });
  behave(agent, 'progress', { delayMs: 1_500 });
  behave(agent, 'corrected', { commit: false, then: 'reset', honourKey: false });
  const [dead, progress, corrected] = await Promise.all([
    submit(agent, 'effects.blind', 'dead'),
    submit(agent, 'effects.noticed', 'progress'),
    submit(agent, 'effects.counted', 'corrected', '30s'),
  ]);
  // What the first request was good for, after all.
  const key = await stack.keyOf(corrected.intentId);
  stack.upstream.behave({ match: { key }, behaviour: { honourKey: false } });
  await fetch(`${stack.upstream.url}/effects/counted`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: '{}',
  });
  await Promise.all([
    told(committed.intentId, 'committed'),
    told(denied.intentId, 'denied'),
    told(failed.intentId, 'failed'),
    told(cancelled.intentId, 'approval_requested', 'cancelled'),
    told(expired.intentId, 'expired'),
    told(dead.intentId, 'outcome_unknown', 'dead_lettered'),
    told(progress.intentId, 'progress', 'committed'),
    told(corrected.intentId, 'outcome_unknown', 'committed', 'corrected'),
  ]);
  // Answered as they are now, with corrections.
  await submit(agent, 'effects.counted', 'corrected');
}

/** Results with what only some have: a shortened list, something too large, text from outside, a sandbox. */
async function everyResult(): Promise<void> {
  const agent = await stack.agent();
  const list = (length: number, stepId: string) =>
    agent.submit('notes.list', { length, limit: 100 }, { stepId, wait: '20s' });
  const [short, large] = [await list(2, 'short'), await list(400, 'large')];
  expect([short.total, large.data, large.untrusted]).toEqual([3_412, null, true]);
  const staged = { tool: 'effects.staged', args: { ref: 'sandbox' }, stepId: 'sandbox', sandbox: true };
  const rehearsed = await agent.request(JSON.stringify(staged), '20s');
  expect(rehearsed).toMatchObject({ sandbox: true, taintedBy: short.intentId });
  await told(rehearsed.intentId, 'committed');
}
