import type { JsonObject } from '@intendant/intent';
import type { Tool } from '@modelcontextprotocol/server';
import { answerSchema } from './answer-schema.js';

const intentId: JsonObject = {
  type: 'string',
  pattern: '^[0-9A-HJKMNP-TV-Z]{26}$',
  description: 'The intentId of an earlier answer.',
};
const wait: JsonObject = {
  type: 'integer',
  minimum: 0,
  maximum: 30,
  description: 'Seconds to wait for an outcome; 0 without it.',
};
const looksHere = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

function tool(
  name: string,
  description: string,
  annotations: Tool['annotations'],
  required: string[],
  properties: JsonObject,
  outputSchema: JsonObject,
): Tool {
  return {
    name,
    description,
    annotations,
    inputSchema: { type: 'object', additionalProperties: false, required, properties } as Tool['inputSchema'],
    outputSchema: outputSchema as NonNullable<Tool['outputSchema']>,
  };
}

export const searchTools = tool(
  'intendant.tools.search',
  'The tools of this run with their schemas, by namespace or by words in their names and descriptions. Without arguments: the namespaces and how many tools each has. Not for data of other systems: call the tools for that.',
  looksHere,
  [],
  {
    query: { type: 'string', maxLength: 200, description: 'Words in the name or the description.' },
    namespace: { type: 'string', pattern: '^[a-z][a-z0-9_.]{0,63}$', description: 'First words of names: payments' },
  },
  {
    type: 'object',
    required: ['namespaces', 'tools', 'total'],
    properties: {
      namespaces: { type: 'array', items: { type: 'object' } },
      tools: { type: 'array', items: { type: 'object' } },
      total: { type: 'integer' },
    },
  },
);

export const callTool = tool(
  'intendant.tools.call',
  'Calls one tool that intendant.tools.search has found; the answer is that of the tool. Not for tools that are listed here themselves.',
  { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  ['tool', 'arguments'],
  {
    tool: { type: 'string', description: 'Its name.' },
    arguments: { type: 'object', description: 'As its inputSchema says.' },
  },
  answerSchema(null),
);

export const getIntent = tool(
  'intendant.intent.get',
  'How an earlier call of this run stands, or its outcome after waiting for it. Use it for what was still being worked on, waited for a person or had an unknown outcome; it sends nothing.',
  looksHere,
  ['intentId'],
  { intentId, wait },
  answerSchema(null),
);

export const getResult = tool(
  'intendant.result.get',
  'Data of an earlier call of this run that its answer did not show, by the handle of that answer: a page of it, or what stands at one place. Not for new data: call the tool for that.',
  looksHere,
  ['handle'],
  {
    handle: { type: 'string', description: 'As the answer gives it: res_01J…' },
    pointer: {
      type: 'string',
      description: 'JSON Pointer into the data: /items/17/lines. Without it: the list of the tool, or all of the data.',
    },
    cursor: { type: 'string', description: 'nextCursor of the page before.' },
    limit: { type: 'integer', minimum: 1, description: 'Items at most; 20 without it, and up to 100 with most tools.' },
  },
  {
    type: 'object',
    properties: {
      handle: { type: 'string' },
      pointer: { type: 'string' },
      kind: { enum: ['list', 'object', 'text', 'value'] },
      data: {},
      total: { type: ['integer', 'null'] },
      nextCursor: { type: ['string', 'null'] },
      error: { type: 'object' },
    },
  },
);

export const cancelIntent = tool(
  'intendant.intent.cancel',
  'Cancels an earlier call of this run that was not sent yet. What may have been sent is aborted, not sent again, and ends in what really happened. Not for undoing what has happened.',
  { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  ['intentId'],
  { intentId, wait },
  answerSchema(null),
);

export const ownTools: readonly Tool[] = [searchTools, getIntent, getResult, cancelIntent];
