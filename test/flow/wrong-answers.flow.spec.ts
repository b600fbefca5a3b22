import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { ErrorObject } from '@intendant/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Agent } from './clients.js';
import { lanes, McpAgent } from './mcp-agent.js';
import { Stack } from './stack.js';

/** Leaves one line in a file for every time it ran, and answers something that is not what it declares. */
const tool = (name: string, effect: string, upstream: string, guarantee: string) => `
apiVersion: intendant/v1
name: wrong.${name}
version: 1
description: Answers in another shape than it declares.
effect: ${effect}
permission: test:use
input: { type: object, additionalProperties: false, required: [ref], properties: { ref: { type: string, maxLength: 40 } } }
output: { type: object, required: [receipt_id], properties: { receipt_id: { type: string } } }
limits: { connect: 2s, call: 10s }
upstream:
  process:
    argv: [sh, -c, 'echo "$1" >> "$RAN"; echo "{\\"receipt\\":1}"', sh, "{{ref}}"]
    env: { RAN: "\${RAN}" }
  guarantee: ${guarantee}
  maxProcessing: 100ms
${upstream}
`;
const lookup = `  settle: 200ms
  lookup:
    argv: [sh, -c, 'echo "[{\\"receipt_id\\":\\"$1\\"}]"', sh, "{{ref}}"]
    present: $count(data) > 0
    receipt: data[0]
    authoritative: true
    spacing: 100ms`;

let folder: string;
let stack: Stack;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'wrong-answers-'));
  const files = {
    read: tool('read', 'read', '', 'none'),
    found: tool('found', 'write', lookup, 'lookup'),
    blind: tool('blind', 'destructive', '', 'none'),
  };
  await writeFile(path.join(folder, 'ran'), '');
  await Promise.all(
    Object.entries(files).map(([name, text]) => writeFile(path.join(folder, `${name}.tool.yaml`), text)),
  );
  stack = await Stack.start({ toolsDir: folder, env: { RAN: path.join(folder, 'ran') } });
});
afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true });
});

const timesRun = async (ref: string) =>
  (await readFile(path.join(folder, 'ran'), 'utf8')).split('\n').filter((line) => line === ref).length;

interface Seen {
  readonly intentId: string;
  readonly status: string;
  readonly outcome: string;
  readonly replayed: boolean;
  readonly data: unknown;
  readonly error: ErrorObject | null;
}

const overHttp = async (agent: Agent, name: string, ref: string) => {
  const body = JSON.stringify({ tool: `wrong.${name}`, args: { ref }, stepId: ref });
  const { status, body: result } = await agent.postHttp(body, { prefer: 'wait=20' });
  return { http: status, result: result as Seen, text: null };
};
const overMcp = (lane: (typeof lanes)[number]) => async (agent: Agent, name: string, ref: string) => {
  const mcp = await McpAgent.connect(stack.url, agent.token, lane);
  // So that the client checks what comes against the output schema: of errors nobody may.
  await mcp.client.listTools();
  const { isError, result, texts } = await mcp.call(`wrong.${name}`, { ref }, { stepId: ref });
  await mcp.close();
  return { isError, result: result as Seen, text: texts.join('\n') };
};
const surfaces = [['HTTP', overHttp], ...lanes.map((lane) => [`MCP ${lane}`, overMcp(lane)] as const)] as const;

describe.each(surfaces)('an answer that is not what the tool declares, over %s,', (surface, call) => {
  const refOf = (name: string) => `${name}-${surface.replaceAll(' ', '-')}`;
  const of = async (name: string) => {
    const agent = await stack.agent();
    const first = await call(agent, name, refOf(name));
    const again = await call(agent, name, refOf(name));
    expect(again.result).toEqual({ ...first.result, replayed: true });
    expect(await timesRun(refOf(name))).toBe(1);
    return first;
  };

  test('of a read is an error that says what is wrong with it, and that nothing was changed', async () => {
    const { result, text, ...how } = await of('read');
    expect(result).toMatchObject({
      ...{ status: 'failed', outcome: 'not_executed', data: null },
      error: {
        ...{ code: 'output_invalid', category: 'dependency', retryable: false, nextAction: 'stop' },
        message:
          "wrong.read answered, but not in the shape it declares: exit_0: the answer does not fit the output schema: /receipt_id: expected a string (required), got nothing. It only reads, so nothing was changed. Tell the tool's owner.",
      },
    });
    expect(how).toEqual(surface === 'HTTP' ? { http: 200 } : { isError: true });
    if (text !== null) expect(text).toContain('output_invalid');
  });

  test('of an effect is no failure: it happened, and the lookup brings the receipt', async () => {
    const { result, ...how } = await of('found');
    expect(result).toMatchObject({
      ...{ status: 'committed', outcome: 'executed', error: null },
      data: { receipt_id: refOf('found') },
    });
    expect(how).toMatchObject(surface === 'HTTP' ? { http: 200 } : { isError: false });
  });

  test('of an effect that nobody can look up is left to a person, and not to be called again', async () => {
    const { result, text, ...how } = await of('blind');
    expect(result).toMatchObject({
      ...{ status: 'dead_lettered', outcome: 'unknown', data: null },
      error: { code: 'dead_lettered', retryable: false, nextAction: 'ask_human' },
    });
    expect(result.error?.message).toMatch(
      /^It is not known whether wrong\.blind happened, and only a person can find out .*Do not call it again; an operator/,
    );
    expect(result.error?.message).not.toMatch(/nothing (?:happened|was changed)/i);
    expect(how).toMatchObject(surface === 'HTTP' ? { http: 202 } : {});
    if (text !== null) expect(text).toContain('Do not call it again');
    const history = await stack.operator().get(`/v1/intents/${result.intentId}/events`);
    expect(JSON.stringify(history.body)).toContain('does not fit the output schema');
  });
});
