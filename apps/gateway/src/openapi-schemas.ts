import { errorKinds, longestToolName, stepIdPattern, toolNamePattern } from '@intendant/contracts';
import type { OpenAPIObject } from '@nestjs/swagger';
import { states } from './queries.js';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
export type Schema = Schemas[string];
type ObjectSchema = Exclude<Schema, { $ref: string }>;

export const text = (description: string, example?: string): Schema => ({
  type: 'string',
  description,
  ...(example && { example }),
});
export const optionalText = (description: string): Schema => ({ type: ['string', 'null'], description });
export const list = (items: Schema): Schema => ({ type: 'array', items });
export const anything: Schema = { type: 'object', additionalProperties: true };
const optionalCount = (description: string): Schema => ({ type: ['integer', 'null'], description });

/** An object whose listed members are all there, but for the `optional` ones. */
export const object = (
  properties: Record<string, Schema>,
  more: Partial<Schema & object> = {},
  optional: Record<string, Schema> = {},
): ObjectSchema => ({
  type: 'object',
  required: Object.keys(properties),
  properties: { ...properties, ...optional },
  ...more,
});

export const exampleResult = {
  intentId: '01JD8Q4Y6V2N7XK3T5W9ZB1CEF',
  runId: 'run_01JD8Q3M1A9S8D7F6G5H4J3K2Z',
  stepId: 's3',
  tool: 'payments.refund.create',
  status: 'committed',
  outcome: 'executed',
  replayed: false,
  data: { refund_id: 're_9' },
  summary: null,
  handle: null,
  error: null,
};

const untrusted: Schema = {
  type: 'boolean',
  enum: [true],
  description: 'There only where data or error may hold text that was written outside.',
};
const warning = text('What that means for whoever reads it; there only with `untrusted`.');

/** How an intent stands, as its agent reads it. */
export const agentResult = object(
  {
    intentId: text('Id of the intent.'),
    runId: text('Id of its run.'),
    stepId: optionalText('Step of the agent runtime.'),
    tool: text('Name of the tool.'),
    status: { type: 'string', enum: states },
    outcome: { type: 'string', enum: ['executed', 'not_executed', 'unknown', 'undecided'] },
    replayed: { type: 'boolean', description: 'Answered from an earlier submit.' },
    data: { description: "The tool's answer; null also where it is too large. A declared list may be shortened." },
    summary: optionalText(
      'What is not shown and how much that is; of what has no outcome yet, what is being done and not to call it again.',
    ),
    handle: optionalText('Reads data that is not all shown: `GET /v1/results/{handle}`.'),
    error: { oneOf: [{ $ref: '#/components/schemas/ErrorObject' }, { type: 'null' }] },
  },
  { example: exampleResult },
  {
    total: { type: 'integer', description: 'Items in all of the list that the tool declares; there only then.' },
    untrusted,
    warning,
    sandbox: { type: 'boolean', enum: [true], description: 'There for sandbox calls only: nothing real happened.' },
    approval: {
      ...object({
        view: text('The action in words.'),
        why: list(text('Why a person is asked.')),
        requester: text('The user whom the run acts for.'),
        expiresAt: { type: 'string', format: 'date-time' },
        quorum: { type: 'integer', description: 'Different people that have to agree.' },
        given: { type: 'integer', description: 'How many have.' },
      }),
      description: 'There only while it waits for people.',
    },
    taintedBy: text('Id of the intent by which the run had read text from outside before; there only where it had.'),
    corrections: {
      type: 'array',
      description: 'Evidence that came too late to change the status silently; there only where there is any.',
      items: object({
        finding: { type: 'string', enum: ['executed', 'partial_effect', 'second_effect'] },
        breach: {
          type: ['string', 'null'],
          enum: ['max_processing', null],
          description: 'The declaration that the upstream broke.',
        },
      }),
    },
  },
);

const forOperators: Record<string, Schema> = {
  grant: optionalText('For operators who read one intent: id of the grant that it goes by; null: by none.'),
  safeResendUntil: {
    type: ['string', 'null'],
    format: 'date-time',
    description:
      'For operators who read one intent: until when sending it again cannot double its effect, because the upstream still knows its key; null where there is no such time.',
  },
};

/** The schemas that many routes share, by name. */
export const schemas = {
  ErrorObject: object({
    code: { type: 'string', enum: Object.keys(errorKinds) },
    category: { type: 'string', enum: ['validation', 'policy', 'conflict', 'dependency', 'internal'] },
    message: text('What happened, what is known, what to do.'),
    retryable: { type: 'boolean', description: 'Only true when a retry cannot double an effect.' },
    nextAction: {
      type: 'string',
      enum: ['fix_arguments', 'wait', 'check_outcome', 'ask_human', 'choose_other_tool', 'stop'],
    },
    details: anything,
  }),
  Problem: object(
    {
      type: text('`urn:intendant:error:` and the code.', 'urn:intendant:error:invalid_message'),
      title: text('The code in words.'),
      status: { type: 'integer', description: 'The HTTP status; for a recorded intent, its state instead.' },
      detail: text('The message of the error.'),
      error: { $ref: '#/components/schemas/ErrorObject' },
    },
    { description: 'Problem details (RFC 9457) around the error object.' },
  ),
  IntentResult: { ...agentResult, properties: { ...agentResult.properties, ...forOperators } },
  IntentListing: object({
    intentId: text('Id of the intent.'),
    tenant: text('Its tenant.'),
    runId: text('Id of its run.'),
    stepId: optionalText('Step of the agent runtime.'),
    tool: text('Name of the tool.'),
    effect: { type: 'string', enum: ['read', 'write', 'destructive'] },
    sandbox: { type: 'boolean', description: 'True: of the sandbox, never the real effect.' },
    status: { type: 'string', enum: states },
    attempts: { type: 'integer', description: 'Requests that may have gone out.' },
    reason: optionalText('Why it is where it is, in a word.'),
    recordedAt: { type: 'string', format: 'date-time' },
    since: { type: 'string', format: 'date-time' },
  }),
} as const satisfies Schemas;

export function refTo(name: keyof typeof schemas): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

export const cursor = optionalText('Pass it as `cursor` for the next page; null on the last one.');

export const resultPage = object(
  {
    handle: text('What was read.'),
    intentId: text('Id of the intent.'),
    tool: text('Name of the tool.'),
    pointer: text('Where in the data this stands.', '/items'),
    kind: { type: 'string', enum: ['list', 'object', 'text', 'value'] },
    data: { description: 'The page.' },
    total: optionalCount('Items, members or characters that stand there in all; null of a value.'),
    omitted: {
      ...list(object({ pointer: text('Reads it.'), what: text('What it is, and how large.') })),
      description: 'Too large for a page: null stands for an item, a member is left out.',
    },
    nextCursor: cursor,
  },
  {},
  { untrusted, warning },
);
const deadMessage = object({
  id: text('Id of the message.'),
  subject: text('Where it was published.'),
  stepId: optionalText('The step beside it, under which it is replayed; null: none.'),
  error: refTo('ErrorObject'),
  receivedAt: { type: 'string', format: 'date-time' },
  sender: { description: 'Who sent it; null where that could not be verified.' },
});

export const openedRun = object({
  runId: text('Id of the run.', exampleResult.runId),
  token: text('Bearer credential of the agent; shown once.'),
  expiresAt: { type: 'string', format: 'date-time' },
  budgets: object(
    {
      calls: optionalCount('Requests to upstreams, repeated ones counted each time.'),
      mutating: optionalCount('Intents of tools that write or destroy.'),
      destructive: optionalCount('Of these, those that destroy.'),
      cost: { type: ['number', 'null'], description: 'Sum of what the tools say their calls cost, in units.' },
      wallClockSeconds: {
        type: ['number', 'null'],
        description: 'How long it may go on proposing, in seconds from its opening.',
      },
    },
    { description: 'The most that the run may do, all being said; null: no limit.' },
  ),
});

export const enteredPhase = object({
  runId: text('Id of the run.', exampleResult.runId),
  phase: optionalText('The phase it is in now; null: none.'),
});

export const toolIntent: Schema = {
  type: 'object',
  additionalProperties: false,
  required: ['tool', 'args'],
  properties: {
    tool: { ...text('Name of the tool.'), pattern: toolNamePattern.source, maxLength: longestToolName },
    args: anything,
    stepId: {
      ...optionalText('Stable over retries of one step; without it the arguments are the identity.'),
      pattern: stepIdPattern.source,
    },
    toolVersion: { type: ['integer', 'null'], minimum: 1, description: 'Refused where the tool has another one now.' },
    sandbox: { type: 'boolean', description: "Send it to the tool's sandbox; refused where it has none." },
  },
  example: { tool: exampleResult.tool, args: { order_id: 'ord_1', amount_cents: 2499 }, stepId: 's3', toolVersion: 1 },
};

export const toolList = object({
  tools: list(
    object({
      name: text('Name.'),
      description: text('What it does, and when not to use it.'),
      version: { type: 'integer' },
      effect: { type: 'string', enum: ['read', 'write', 'destructive'] },
      reversible: { type: ['boolean', 'null'] },
      inputSchema: anything,
      outputSchema: { type: ['object', 'null'], additionalProperties: true },
    }),
  ),
});

const event = object(
  {
    version: { type: 'integer' },
    at: { type: 'string', format: 'date-time' },
    type: text('What happened, in the past tense.'),
  },
  { additionalProperties: true },
);
export const eventList = object({ events: list(event) });
export const runEventPage = object({
  events: list({
    allOf: [object({ intentId: text('Id of the intent that it happened to.') }), event],
  }),
  nextCursor: optionalText('Pass it as `cursor` for what follows; null where there is no event yet.'),
});

export const intentPage = object({ items: list(refTo('IntentListing')), nextCursor: cursor });

export const deadLetterPage = object({
  intents: list(refTo('IntentListing')),
  messages: list(deadMessage),
  nextCursor: cursor,
});

const actions = list(
  object({ action: text('What.'), possible: { type: 'boolean' }, reason: optionalText('Why not.') }),
);
const dismissal = object({
  at: { type: 'string', format: 'date-time' },
  by: text('Who dismissed it.'),
  reason: text('Why.'),
});
export const dismissed = object({ id: text('Id of the message.'), dismissal });
export const deadLetter: Schema = {
  oneOf: [
    object({ kind: { type: 'string', enum: ['intent'] }, result: refTo('IntentResult'), events: list(event), actions }),
    object({
      kind: { type: 'string', enum: ['message'] },
      id: text('Id of the message.'),
      intentId: optionalText('The intent it was replayed into.'),
      dismissal: { oneOf: [dismissal, { type: 'null' }] },
      payload: anything,
      actions,
    }),
  ],
};

export const replayResults = object({
  results: list({ allOf: [object({ id: text('The id asked for.') }), refTo('IntentResult')] }),
});

export const pause = object({
  id: text('Id of the pause, to end it with.'),
  tenant: optionalText('Of this tenant only.'),
  tool: optionalText('This tool only.'),
  namespace: optionalText('Tools of this namespace only.'),
  upstream: optionalText('Tools of this upstream only.'),
  reason: text('Why.'),
  author: text('Name of the operator.'),
  since: { type: 'string', format: 'date-time' },
  until: { type: ['string', 'null'], format: 'date-time', description: 'When it ends by itself.' },
});
export const pauseList = object({ items: list(pause) });
export const begunPause = object({
  pause,
  underWay: {
    type: 'integer',
    description: 'Intents of the scope with an attempt open, accepted, or of unknown outcome: they are not touched.',
  },
});

const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description });
const optionalTime = (description: string): Schema => ({ type: ['string', 'null'], format: 'date-time', description });
const optionalUnits = (description: string): Schema => ({ type: ['number', 'null'], description });

export const grant = object({
  id: text('Id of the grant, to revoke it with.'),
  tenant: text('Its tenant.'),
  tool: text('Calls of this tool.', exampleResult.tool),
  toolVersion: { type: 'integer', description: 'In this version alone.' },
  when: optionalText('CEL: true where a call is agreed to; null: whatever its arguments.'),
  maxUses: { type: 'integer' },
  maxTotal: optionalUnits("What its uses may cost together, in units of the tool's cost; null: no limit."),
  user: optionalText('Only in runs of this user; null: of any.'),
  sandbox: { type: 'boolean', description: 'True: for calls of the sandbox, and for nothing real.' },
  reason: text('Why.'),
  givenBy: text('Name of the operator.'),
  givenAt: time('Since when.'),
  expiresAt: time('Until when.'),
  revokedAt: optionalTime('Null: it was not revoked.'),
  revokedBy: optionalText('Name of the operator.'),
  inForce: { type: 'boolean', description: 'Neither revoked nor over; it may be used up all the same.' },
  used: { type: 'integer', description: 'Intents by it that have happened, or may have, or still may.' },
  spent: { type: 'number', description: 'What they cost, in units.' },
  left: object({ uses: { type: 'integer' }, total: optionalUnits('In units; null: no limit.') }),
});
export const grantPage = object({ items: list(grant), nextCursor: cursor });

export const sweepCounts: Schema = { type: 'object', additionalProperties: anything };
