import { errorHeader } from '@intendant/bus';
import { type ErrorCode, eventHeaders, publicEventNames } from '@intendant/contracts';
import { object, openedRun, type Schema, text, toolIntent, toolList } from '../openapi-schemas.js';
import { submitRefusals } from '../submit-refusals.js';
import { eventPayload, said } from './events.js';
import { examples } from './examples.js';

/** One kind of message, as AsyncAPI writes it down. */
export interface Message {
  readonly title: string;
  readonly summary: string;
  readonly contentType: string;
  readonly headers?: Schema;
  readonly payload: Schema;
  readonly examples: readonly { readonly payload: unknown; readonly headers?: unknown }[];
}

const json = 'application/json';
const header = (description: string, example: string): Schema => ({ ...text(description), examples: [example] });
const bearer = (whose: string) =>
  header(`\`Bearer\` and ${whose}.`, whose.startsWith('the run') ? 'Bearer eyJhbGciOi…' : 'Bearer 4f1c…');
const runToken = { Authorization: bearer('the run token') };
const traceparent = {
  traceparent: header(
    'W3C trace context; what cannot be read is ignored.',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ),
};

/** What a request may be answered with instead of a result. */
function refusal(what: string, codes: readonly ErrorCode[]): Message {
  const all = [...codes, 'internal'];
  return {
    title: `Refusal of ${what}`,
    summary: 'Nothing was recorded, or, with `unavailable` and `internal`, nobody knows whether it was.',
    contentType: json,
    headers: object({ [errorHeader]: { type: 'string', enum: all, description: 'The code of the error.' } }),
    payload: object({
      error: {
        allOf: [{ $ref: '#/components/schemas/ErrorObject' }, { properties: { code: { type: 'string', enum: all } } }],
      },
    }),
    examples: [examples.refusal],
  };
}

const step = {
  'Intendant-Step': header(
    'The step, as `stepId` in the message, for runtimes that pass on what the model wrote. Where both are given they have to be the same.',
    's3',
  ),
};

/** Every message that somebody outside sends or gets. Those of events are named as the last word of their subject. */
export const messages: Readonly<Record<string, Message>> = {
  submission: {
    title: 'ToolIntent, to be stored',
    summary: 'One call of one tool, proposed without waiting for an answer.',
    contentType: json,
    headers: object(
      runToken,
      {},
      {
        ...traceparent,
        ...step,
        'Nats-Msg-Id': header('For JetStream: within two minutes a second message of this id is not stored.', 's3-1'),
      },
    ),
    payload: toolIntent,
    examples: [examples.submission],
  },
  stored: {
    title: 'Stored',
    summary: 'JetStream has the message. Whether it can be admitted is not known yet.',
    contentType: json,
    payload: object(
      { stream: text('Its stream.'), seq: { type: 'integer', description: 'Its place there.' } },
      {},
      {
        duplicate: { type: 'boolean', description: 'A message of the same `Nats-Msg-Id` was stored before.' },
        domain: text('Where JetStream has domains: which one.'),
      },
    ),
    examples: [examples.stored],
  },
  notStored: {
    title: 'Not stored',
    summary: 'JetStream did not take the message, for instance because its stream is full.',
    contentType: json,
    payload: object(
      {
        error: object({
          code: { type: 'integer', description: 'As an HTTP status.' },
          err_code: { type: 'integer', description: 'Code of JetStream.' },
          description: text('Why.'),
        }),
      },
      {},
      { stream: text('The stream.'), seq: { type: 'integer' } },
    ),
    examples: [examples.notStored],
  },
  request: {
    title: 'ToolIntent, to be answered',
    summary: 'One call of one tool; the reply comes when PostgreSQL has it.',
    contentType: json,
    headers: object(
      runToken,
      {},
      {
        ...traceparent,
        'Intendant-Wait': {
          ...header('How long to wait for an outcome, 30 s at most; without it, for the recording only.', '20s'),
          pattern: '^[0-9]{1,6}(ms|s)$',
        },
        ...step,
        'Intendant-After': {
          ...header(
            'For calls without a step, by whoever may send the same one again: after which intent of the same call this one is made, or none. Where another one is over already, nothing is recorded, and the answer (`conflict`) names it in `details.after`.',
            'none',
          ),
          pattern: '^(none|[0-9A-HJKMNP-TV-Z]{26})$',
        },
      },
    ),
    payload: toolIntent,
    examples: [examples.request],
  },
  result: {
    title: 'Result',
    summary: 'How the intent stands. It was recorded, whatever its status.',
    contentType: json,
    payload: { $ref: '#/components/schemas/IntentResult' },
    examples: [examples.result, examples.unknown],
  },
  submitRefusal: refusal('a submit', submitRefusals),
  toolsRequest: {
    title: 'Which tools?',
    summary: 'What the run may call. An empty message asks for all.',
    contentType: json,
    headers: object(runToken),
    payload: object(
      {},
      {},
      {
        query: text('Words in the name or the description.'),
        namespace: text('First words of the name.', 'payments'),
      },
    ),
    examples: [examples.toolsRequest],
  },
  tools: {
    title: 'Tools',
    summary: 'The tools that the run may call, as a model may see them.',
    contentType: json,
    payload: toolList,
    examples: [examples.tools],
  },
  toolsRefusal: refusal('the list', ['invalid_message', 'unauthenticated', 'run_closed', 'unavailable']),
  openRun: {
    title: 'Open a run',
    summary: 'A trusted runtime says who acts, and what the run may do at most.',
    contentType: json,
    headers: object({ Authorization: bearer('the service key') }),
    payload: { $ref: '#/components/schemas/OpenRun' },
    examples: [examples.openRun],
  },
  openedRun: {
    title: 'Opened run',
    summary: 'The run and the token that its agent uses.',
    contentType: json,
    payload: openedRun,
    examples: [examples.openedRun],
  },
  openRunRefusal: refusal('a run', ['invalid_message', 'invalid_arguments', 'unauthenticated', 'unavailable']),
  ...Object.fromEntries(
    publicEventNames.map((name) => [
      name,
      {
        title: name,
        summary: said[name],
        contentType: eventHeaders['Content-Type'],
        headers: object({
          'Content-Type': { type: 'string', enum: [eventHeaders['Content-Type']] },
          'Nats-Msg-Id': text('The `id` of the event.'),
        }),
        payload: eventPayload(name),
        examples: [examples.event(name)],
      },
    ]),
  ),
};
