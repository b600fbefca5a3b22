import type { JsonObject } from '@intendant/intent';

const duration = { $ref: '#/$defs/duration' };
const declared = { $ref: '#/$defs/declared' };
const text = { type: 'string', minLength: 1, title: 'text' };
export const expression = { type: 'string', minLength: 1, title: 'a JSONata expression' };
const count = { type: 'integer', minimum: 1, title: 'a whole number, 1 or more' };
const credential = {
  type: 'string',
  pattern: '^[a-z][a-z0-9_]{0,63}$',
  title: 'the name of a credential, such as payments',
};
export const path = {
  type: 'string',
  pattern: '^/(?:[^/\\p{Z}\\p{C}#\\\\][^\\p{Z}\\p{C}#\\\\]*)?$',
  title: 'a path that starts with one `/` and has no spaces or `#`',
};
export const headers = {
  type: 'object',
  title: 'names and values of HTTP headers',
  additionalProperties: {
    type: 'string',
    pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
    title: 'one line of Latin-1 text',
  },
};
const baseUrl = { ...text, title: 'an http or https URL' };
export const argv = {
  type: 'array',
  minItems: 1,
  items: { type: 'string', pattern: '^[^\\0]*$', title: 'text without NUL' },
  title: 'a program and its arguments, such as [python3, refund.py]',
};
const env = {
  type: 'object',
  title: 'names and values of environment variables',
  propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$', title: 'a name of letters, digits and `_`' },
  additionalProperties: { type: 'string', pattern: '^[^\\0]*$', title: 'text without NUL' },
};
const meaning = { enum: ['executed', 'not_executed', 'accepted', 'unknown', 'in_progress'] };
const exits = {
  type: 'object',
  title: 'what exit statuses mean',
  propertyNames: { pattern: '^(?:[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])$', title: 'an exit status, 0 to 255' },
  additionalProperties: meaning,
};
export const mcpTool = { ...text, title: 'the name of a tool of the MCP server' };
export const mcpArguments = { ...expression, description: 'JSONata over the arguments; `$args` when left out.' };

const method = { enum: ['GET', 'POST'] };
const receipt = {
  ...expression,
  description: 'JSONata that extracts the output of the tool; left out: the whole answer.',
};

/** Fields of a lookup or a poll that say how it is asked; each belongs to one kind of upstream. */
const question = { method, path, headers, tool: mcpTool, arguments: mcpArguments, argv };

/** The `upstream` part of a tool file: where the tool really is and what may be relied upon there. */
export const upstreamSchema: JsonObject = {
  type: 'object',
  title: 'the upstream of the tool',
  description: 'Where the tool is and what it guarantees. `${NAME}` in any text is filled in from the environment.',
  additionalProperties: false,
  properties: {
    name: {
      type: 'string',
      pattern: '^[a-z][a-z0-9._-]{0,63}$',
      title: 'a lower-case name such as payments',
      description:
        'Tools of one name share circuit breaker and concurrency limit; left out: its host, program or module.',
    },
    concurrency: { ...count, description: 'Attempts open at once over all tools of this upstream; 64 when left out.' },
    http: {
      type: 'object',
      title: 'an HTTP endpoint',
      additionalProperties: false,
      required: ['baseUrl', 'method', 'path'],
      properties: {
        baseUrl,
        method: { enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
        path: { ...path, description: '`{{field}}`, `{{key}}` and `{{intentId}}` are filled in, percent-encoded.' },
        headers,
        body: { ...expression, description: 'JSONata over the arguments, such as `$args`; left out: no body.' },
        credential,
        http2: { type: 'boolean', title: 'true or false', description: 'Offer HTTP/2; false when left out.' },
      },
    },
    mcp: {
      type: 'object',
      title: 'a tool of an MCP server',
      additionalProperties: false,
      required: ['tool'],
      properties: {
        url: { ...text, title: 'the http or https URL of the server' },
        headers,
        command: { ...argv, description: 'Starts the server, which then speaks on stdin and stdout.' },
        env,
        tool: mcpTool,
        arguments: mcpArguments,
        credential,
      },
    },
    process: {
      type: 'object',
      title: 'a local process',
      additionalProperties: false,
      required: ['argv'],
      properties: {
        argv,
        cwd: { ...text, description: 'Folder it runs in, from that of the tool file; that folder when left out.' },
        env,
        input: { ...expression, description: 'JSONata: what it reads on stdin; `$args` when left out.' },
        maxOutput: { ...count, description: 'Most bytes of its output that are read; 1 MiB when left out.' },
        exits,
        credential,
      },
    },
    module: {
      type: 'object',
      title: 'a TypeScript module',
      additionalProperties: false,
      required: ['file'],
      properties: {
        file: { ...text, title: 'a .ts, .mts, .js or .mjs file, from the folder of the tool file' },
        credential,
      },
    },
    sandbox: {
      type: 'object',
      title: 'what differs in the sandbox',
      description: 'Replaces these fields for sandbox calls; everything else stays as it is.',
      additionalProperties: false,
      properties: { baseUrl, url: baseUrl, headers, command: argv, argv, env, file: text, credential },
    },
    statuses: {
      type: 'object',
      title: 'what HTTP statuses mean at this upstream',
      propertyNames: { pattern: '^[2-5][0-9]{2}$', title: 'an HTTP status from 200 to 599' },
      additionalProperties: meaning,
    },
    outcomes: {
      type: 'array',
      title: 'a list of rules, each with `when` and `means`',
      description: 'What answers mean where status or exit status alone do not tell; the first that holds decides.',
      items: {
        type: 'object',
        title: 'a rule with `when` and `means`',
        additionalProperties: false,
        required: ['when', 'means'],
        properties: { when: expression, means: meaning, receipt },
      },
    },
    guarantee: {
      enum: ['idempotency_key', 'conditional_create', 'lookup', 'none'],
      description: 'What the upstream promises about a repeated request. Required unless the tool only reads.',
    },
    keyRetention: { ...declared, description: 'How long the upstream remembers a key; for `idempotency_key`.' },
    maxProcessing: {
      ...declared,
      description: 'Longest time from a request to its effect, even if the answer is lost.',
    },
    settle: { ...duration, description: 'Time after which an absence counts; computed when left out.' },
    lookup: {
      type: 'object',
      title: 'how to ask whether a request took effect',
      additionalProperties: false,
      required: ['authoritative'],
      properties: {
        ...question,
        present: { ...expression, description: 'JSONata over the answer: true when the effect is there.' },
        receipt,
        count: { ...expression, description: 'JSONata over the answer: how many parts of the effect are there.' },
        parts: {
          ...expression,
          description: 'JSONata over the arguments: how many parts there must be; 1 when left out.',
        },
        absent: {
          type: 'array',
          title: 'a list of different HTTP or exit statuses, such as [404]',
          description: 'Statuses by which the upstream itself, never a proxy before it, says that nothing is there.',
          uniqueItems: true,
          items: {
            type: 'integer',
            minimum: 1,
            maximum: 499,
            title: 'an HTTP status from 400 to 499, or an exit status',
          },
        },
        authoritative: { type: 'boolean', description: 'True when an empty answer proves that nothing happened.' },
        lag: { ...declared, description: 'How far the lookup may be behind.' },
        spacing: { ...duration, description: 'Least time between the two absences that allow another attempt.' },
        deadline: { ...duration, description: 'When to give up asking and tell a person.' },
      },
    },
    poll: {
      type: 'object',
      title: 'how to follow a request that was accepted',
      description: 'For upstreams that answer 202: asked until it was done or given up.',
      additionalProperties: false,
      properties: {
        ...question,
        executed: { ...expression, description: 'JSONata over the answer: true when it was done.' },
        failed: { ...expression, description: 'JSONata over the answer: true when nothing will happen any more.' },
        receipt,
        interval: { ...duration, description: 'Time between two questions; 2s when left out.' },
        deadline: { ...duration, description: 'When to give up asking and tell a person; 1h when left out.' },
      },
    },
  },
};
