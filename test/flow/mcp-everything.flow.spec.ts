import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startTcpProxy, type TcpProxy } from '@intendant/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from './eventually.js';
import { EverythingServer } from './everything-server.js';
import { McpAgent, type Progress } from './mcp-agent.js';
import { Stack } from './stack.js';
import { programs, type ThirdPartyTool, toolFile } from './third-party-tools.js';

let folder: string;
let http: EverythingServer;
let proxy: TcpProxy;
let stack: Stack;
const open: McpAgent[] = [];

const long = 'duration: { type: number }, steps: { type: integer }';
const weather = `{ type: object, required: [temperature, conditions, humidity], properties: {
  temperature: { type: number }, conditions: { type: string }, humidity: { type: number } } }`;

/** The same tools for each transport; names begin with it. */
function toolsOf(transport: string, server: string): ThirdPartyTool[] {
  const tool = (name: string, of: Omit<ThirdPartyTool, 'server' | 'name' | 'effect'> & { effect?: 'write' }) => ({
    ...{ name: `${transport}.${name}`, effect: 'read' as const, server },
    ...of,
  });
  return [
    tool('weather', { tool: 'get-structured-content', properties: 'location: { type: string }', output: weather }),
    tool('image', { tool: 'get-tiny-image' }),
    tool('links', { tool: 'get-resource-links', properties: 'count: { type: integer }' }),
    tool('reference', { tool: 'get-resource-reference' }),
    tool('environment', { tool: 'get-env', output: '{ type: object }' }),
    tool('sum', {
      ...{
        tool: 'get-sum',
        effect: 'write',
        properties: 'a: { type: number }, b: {}',
        output: '{ type: object, required: [text] }',
      },
      upstream: `  outcomes:
    - { when: $not($isError), means: executed, receipt: '{ "text": $text }' }
    - { when: '$isError and $contains($text, /^(MCP error -32602: )?Input validation error/)', means: not_executed }
`,
    }),
    tool('log', { tool: 'toggle-simulated-logging', effect: 'write' }),
    tool('wait', {
      ...{ tool: 'trigger-long-running-operation', properties: long },
      more: 'limits: { connect: 10s, call: 10s, notice: 100ms }\nretry: { attempts: 5, backoff: 50ms }',
    }),
    tool('act', {
      ...{ tool: 'trigger-long-running-operation', effect: 'write', properties: long },
      more: 'limits: { connect: 10s, call: 1s }',
    }),
    ...['trigger-elicitation-request', 'trigger-sampling-request', 'simulate-research-query'].map((name) =>
      tool(name.replaceAll('-', '_'), {
        ...{ tool: name, effect: 'write', properties: 'prompt: { type: string }, topic: { type: string }' },
        more: 'limits: { connect: 10s, call: 10s }\nretry: { attempts: 1 }',
      }),
    ),
  ];
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'intendant-everything-'));
  http = await EverythingServer.start();
  proxy = await startTcpProxy(http.port);
  const tools = [
    ...toolsOf('stdio', 'command: [mcp-server-everything]'),
    ...toolsOf('http', `url: "${proxy.through(http.url)}"`),
  ];
  await Promise.all(tools.map((of) => writeFile(path.join(folder, `${of.name}.tool.yaml`), toolFile(of))));
  stack = await Stack.start({
    services: ['policy', 'outbox-relay', 'dispatcher', 'reconciler', 'gateway'],
    toolsDir: folder,
    env: { PATH: programs },
  });
});
afterAll(async () => {
  await Promise.all([...open.map((each) => each.close()), http?.kill()]);
  await proxy?.close();
  expect(await stack.store.verify()).toEqual([]);
  await stack.stop();
  await rm(folder, { recursive: true });
});

async function connect(): Promise<McpAgent> {
  const mcp = await McpAgent.connect(stack.url, (await stack.agent()).token, '2026-07-28');
  open.push(mcp);
  return mcp;
}

const causesOf = async (intentId: string) =>
  (await stack.store.intents.load(intentId))?.attempts.map(({ cause }) => cause) ?? [];

describe.each(['stdio', 'http'])('over %s', (transport) => {
  test('structured content is the data, which a client checks against the schema of the tool file', async () => {
    const mcp = await connect();
    await mcp.client.listTools();
    const { result } = await mcp.call(`${transport}.weather`, { location: 'Chicago' });
    expect(result).toMatchObject({
      ...{ status: 'committed', outcome: 'executed' },
      data: { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 },
    });
  });

  test('blocks of content that are no text come as the server gave them', async () => {
    const mcp = await connect();
    const image = await mcp.call(`${transport}.image`, {});
    expect(image.result.data).toMatchObject({
      content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) }, {}],
    });
    const links = await mcp.call(`${transport}.links`, { count: 2 });
    expect(links.result.data).toMatchObject({ content: [{}, { type: 'resource_link' }, { type: 'resource_link' }] });
    const reference = await mcp.call(`${transport}.reference`, {});
    expect(reference.result.data).toMatchObject({
      content: [{}, { type: 'resource', resource: { uri: 'demo://resource/dynamic/text/1' } }, {}],
    });
  });

  test('a text is read by a rule, and wrong arguments are a refusal where a rule knows the words', async () => {
    const mcp = await connect();
    const right = await mcp.call(`${transport}.sum`, { a: 1, b: 2 });
    expect(right.result).toMatchObject({ status: 'committed', data: { text: 'The sum of 1 and 2 is 3.' } });
    const wrong = await mcp.call(`${transport}.sum`, { a: 1, b: 'two' });
    expect(wrong.result).toMatchObject({
      status: 'failed',
      outcome: 'not_executed',
      error: { code: 'upstream_rejected' },
    });
    expect(wrong.error.message).toContain('expected number, received string at b');
  });

  test('what the server says of its own accord disturbs nothing', async () => {
    const mcp = await connect();
    const { result } = await mcp.call(`${transport}.log`, {});
    expect(result).toMatchObject({ status: 'committed' });
    expect((await mcp.call(`${transport}.sum`, { a: 2, b: 2 })).result).toMatchObject({ status: 'committed' });
  });

  test('an operation that takes long is told of, and one that takes longer than its limit is unknown', async () => {
    const mcp = await connect();
    const told: Progress[] = [];
    const onprogress = (each: Progress) => told.push(each);
    // Its notice limit is 100 ms, and it is told every second at most.
    const args = { duration: 2.5, steps: 5 };
    const done = await mcp.call(`${transport}.wait`, args, { onprogress });
    expect(done.result).toMatchObject({ status: 'committed' });
    expect(told.length).toBeGreaterThan(1);
    for (const each of told) expect(each.message).toContain(`${transport}.wait is still being worked on`);
    const { result } = await mcp.call(`${transport}.act`, { duration: 3, steps: 1 });
    expect(result).toMatchObject({ status: 'dead_lettered', outcome: 'unknown' });
    expect(await causesOf(result.intentId)).toEqual(['call_timeout']);
    expect((await mcp.call(`${transport}.sum`, { a: 3, b: 3 })).result).toMatchObject({ status: 'committed' });
  });

  test.each([
    // The server has these for clients that can be asked back, and nobody can be here.
    ['trigger_elicitation_request', 'the server has no tool trigger-elicitation-request'],
    ['trigger_sampling_request', 'the server has no tool trigger-sampling-request'],
    ['simulate_research_query', 'the server runs simulate-research-query as a task only'],
  ])('%s cannot be called, which is said, and nothing is sent', async (name, why) => {
    const { result, texts } = await (await connect()).call(`${transport}.${name}`, { prompt: 'x', topic: 'x' });
    expect(result).toMatchObject({ status: 'dead_lettered', outcome: 'undecided' });
    expect(texts[0]).toContain(why);
  });
});

test('a server on stdio gets nothing of the environment of the dispatcher', async () => {
  const { result } = await (await connect()).call('stdio.environment', {});
  expect(Object.keys(result.data as object).filter((name) => !name.startsWith('__'))).toEqual(['PATH']);
});

describe('over HTTP, where the connection is lost', () => {
  let mcp: McpAgent;
  beforeEach(async () => {
    mcp = await connect();
    // From here on there is a session, and a request is a call.
    expect((await mcp.call('http.sum', { a: 4, b: 4 })).result).toMatchObject({ status: 'committed' });
  });

  test('an answer that breaks off is fetched, and the call not made again', async () => {
    const before = http.log.length;
    // Head and first event have some 450 bytes, and give the stream an id; the answer has 190 more.
    const cut = proxy.cutOnce({ after: 'trigger-long-running', direction: 'to_client', bytes: 550 });
    const { result } = await mcp.call('http.wait', { duration: 0.5, steps: 1 });
    expect(await cut).toBe(true);
    expect(result).toMatchObject({ status: 'committed' });
    expect(await causesOf(result.intentId)).toEqual([null]);
    expect(http.log.slice(before)).toEqual([
      'Received MCP POST request',
      'Received MCP GET request',
      expect.stringMatching(/^Client reconnecting with Last-Event-ID/),
    ]);
  });

  test('a server that ends makes an effect unknown and a read try again; started again, it is found by itself', async () => {
    const before = http.log.length;
    const act = mcp.call('http.act', { duration: 30, steps: 1 });
    const wait = mcp.call('http.wait', { duration: 0.8, steps: 1 });
    await eventually('the server has both', () => http.log.length >= before + 2);
    await http.kill();
    await http.restart();
    const { result } = await act;
    expect(result).toMatchObject({ status: 'dead_lettered', outcome: 'unknown' });
    expect(await causesOf(result.intentId)).toHaveLength(1);
    expect((await wait).result).toMatchObject({ status: 'committed' });
    expect((await mcp.call('http.sum', { a: 5, b: 5 })).result).toMatchObject({ status: 'committed' });
  });
});
