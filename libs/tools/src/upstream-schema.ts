import type { JsonObject } from '@intendant/intent';

const duration = { $ref: '#/$defs/duration' };
const text = { type: 'string', minLength: 1, title: 'text' };
const expression = { type: 'string', minLength: 1, title: 'a JSONata expression' };
const path = {
  type: 'string',
  pattern: '^/(?:[^/\\p{Z}\\p{C}#\\\\][^\\p{Z}\\p{C}#\\\\]*)?$',
  title: 'a path that starts with one `/` and has no spaces or `#`',
};
const headers = {
  type: 'object',
  title: 'names and values of HTTP headers',
  additionalProperties: {
    type: 'string',
    pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
    title: 'one line of Latin-1 text',
  },
};

/** The `upstream` part of a tool file: where the tool really is and what may be relied upon there. */
export const upstreamSchema: JsonObject = {
  type: 'object',
  title: 'the upstream of the tool',
  description: 'Where the tool is and what it guarantees. `${NAME}` in any text is filled in from the environment.',
  additionalProperties: false,
  properties: {
    http: {
      type: 'object',
      title: 'an HTTP endpoint',
      additionalProperties: false,
      required: ['baseUrl', 'method', 'path'],
      properties: {
        baseUrl: { ...text, title: 'an http or https URL' },
        method: { enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
        path: { ...path, description: '`{{field}}`, `{{key}}` and `{{intentId}}` are filled in, percent-encoded.' },
        headers,
        body: { ...expression, description: 'JSONata over the arguments, such as `$args`; left out: no body.' },
        credential: { ...text, title: 'the name of a credential' },
      },
    },
    mcp: { type: 'object', title: 'a tool of an MCP server' },
    process: { type: 'object', title: 'a local process' },
    module: { type: 'object', title: 'a TypeScript module' },
    sandbox: { type: 'object', title: 'what differs in the sandbox' },
    statuses: {
      type: 'object',
      title: 'what HTTP statuses mean at this upstream',
      propertyNames: { pattern: '^[2-5][0-9]{2}$', title: 'an HTTP status from 200 to 599' },
      additionalProperties: { enum: ['executed', 'not_executed', 'accepted', 'unknown', 'in_progress'] },
    },
    guarantee: {
      enum: ['idempotency_key', 'conditional_create', 'lookup', 'none'],
      description: 'What the upstream promises about a repeated request. Required unless the tool only reads.',
    },
    keyRetention: { ...duration, description: 'How long the upstream remembers a key; for `idempotency_key`.' },
    maxProcessing: {
      ...duration,
      description: 'Longest time from a request to its effect, even if the answer is lost.',
    },
    settle: { ...duration, description: 'Time after which an absence counts; computed when left out.' },
    lookup: {
      type: 'object',
      title: 'how to ask whether a request took effect',
      additionalProperties: false,
      required: ['path', 'present', 'authoritative'],
      properties: {
        method: { enum: ['GET', 'POST'] },
        path,
        headers,
        present: { ...expression, description: 'JSONata over the answer: true when the effect is there.' },
        receipt: {
          ...expression,
          description: 'JSONata that extracts the output of the tool; left out: the whole answer.',
        },
        absent: {
          type: 'array',
          title: 'a list of different HTTP statuses, such as [404]',
          description: 'Statuses by which the upstream itself, never a proxy before it, says that nothing is there.',
          uniqueItems: true,
          items: { type: 'integer', minimum: 400, maximum: 499, title: 'an HTTP status from 400 to 499' },
        },
        authoritative: { type: 'boolean', description: 'True when an empty answer proves that nothing happened.' },
        lag: { ...duration, description: 'How far the lookup may be behind.' },
        spacing: { ...duration, description: 'Least time between the two absences that allow another attempt.' },
        deadline: { ...duration, description: 'When to give up asking and tell a person.' },
      },
    },
  },
};
