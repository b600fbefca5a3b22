import { publicEventNames, subjects } from '@intendant/contracts';
import { agentResult, type Schema, schemas } from '../openapi-schemas.js';
import { cloudEvent } from './events.js';
import { type Message, messages } from './messages.js';

type Ref = { readonly $ref: string };
interface Channel {
  readonly address: string | null;
  readonly title: string;
  readonly description: string;
  readonly parameters?: Readonly<Record<string, object>>;
  readonly messages: Readonly<Record<string, Ref>>;
}

const description = `What agents, their runtimes and subscribers use over NATS. Intendant is the application: it receives what they send.

A submit by request is answered when PostgreSQL has it. A submit by publish is stored by JetStream and admitted later: what cannot be admitted is kept for an operator, and nobody is told. Whoever got no answer sends the same call with the same \`stepId\` again, by request, for as long as it takes: it takes effect once at most, and the answer says how it stands.

Events are told at least once and in any order, and a subscriber that is away misses them: \`data.version\` puts those of one intent in order, and \`GET /v1/runs/{id}/events\` has them all. Anybody who may publish on a subject may write there what is no message of these: check what you read. New members, messages and events may be added; a change of meaning gets another name.`;

const tenant = { description: 'The tenant of the run token.', examples: ['acme'] };
const ofEvents = {
  tenant: { ...tenant, description: 'The tenant.' },
  runId: { description: 'Id of the run; `*`: of any.' },
  intentId: { description: 'Id of the intent; `*`: of any.' },
  event: { description: 'What happened, and the name of its message; `*`: whatever.', enum: [...publicEventNames] },
};

const names = Object.keys(messages);
const channel = (
  address: string | null,
  title: string,
  description: string,
  of: readonly string[],
  parameters?: Channel['parameters'],
): Channel => ({
  address,
  title,
  description,
  ...(parameters && { parameters }),
  messages: Object.fromEntries(of.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
});
const inbox = (title: string, of: readonly string[]) =>
  channel(null, title, 'The reply subject of the request. It must not begin with `intendant.` or `$`.', of);

const channels: Readonly<Record<string, Channel>> = {
  submissions: channel(
    subjects.intents('{tenant}'),
    'Submissions',
    'Stored by JetStream until they are admitted, for seven days at most. A message has 256 KiB at most.',
    ['submission'],
    { tenant },
  ),
  acknowledgements: channel(
    null,
    'Acknowledgements',
    'The reply subject that the publisher names; JetStream answers there.',
    ['stored', 'notStored'],
  ),
  submit: channel(subjects.rpcSubmit, 'Submit', 'Answered once PostgreSQL has it. A message has 256 KiB at most.', [
    'request',
  ]),
  submitReplies: inbox('Answers to submits', ['result', 'submitRefusal']),
  tools: channel(subjects.rpcTools, 'Tools', 'What the run may call.', ['toolsRequest']),
  toolsReplies: inbox('Answers about tools', ['tools', 'toolsRefusal']),
  openRun: channel(subjects.rpcOpenRun, 'Open a run', 'For trusted runtimes.', ['openRun']),
  openRunReplies: inbox('Answers about runs', ['openedRun', 'openRunRefusal']),
  events: channel(
    subjects.event('{tenant}', '{runId}', '{intentId}', '{event}'),
    'Events',
    'CloudEvents 1.0 in structured mode. `intendant.events.<tenant>.<runId>.>` follows one run.',
    publicEventNames,
    ofEvents,
  ),
};

const schemes = {
  natsUser: { type: 'userPassword', description: 'User and password of the NATS server.' },
  natsKey: { type: 'asymmetricEncryption', description: 'NKey of the NATS server, or JWT with its seed.' },
  natsCertificate: { type: 'X509', description: 'Client certificate that the NATS server knows.' },
  runToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'Run token of an agent, in the header `Authorization` of each message. It says which run, and so whose.',
  },
  serviceKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'Service key of a trusted agent runtime, in the header `Authorization` of each message.',
  },
} as const;
const secured = (...by: (keyof typeof schemes)[]) =>
  by.map((name) => ({ $ref: `#/components/securitySchemes/${name}` }));
const from = (name: string) => ({ $ref: `#/channels/${name}` });
const all = (name: string) =>
  Object.keys(channels[name]?.messages ?? {}).map((message) => ({ $ref: `#/channels/${name}/messages/${message}` }));
const receive = (name: string, reply: string, credential: keyof typeof schemes, summary: string) => ({
  action: 'receive',
  channel: from(name),
  summary,
  security: secured(credential),
  messages: all(name),
  reply: { channel: from(reply), messages: all(reply) },
});

const operations = {
  takeSubmission: receive('submissions', 'acknowledgements', 'runToken', 'Submit without waiting for an answer'),
  answerSubmit: receive('submit', 'submitReplies', 'runToken', 'Submit, and hear how it stands'),
  listTools: receive('tools', 'toolsReplies', 'runToken', 'List the tools that the run may call'),
  openRun: receive('openRun', 'openRunReplies', 'serviceKey', 'Open a run and get the token its agent uses'),
  tellEvent: { action: 'send', channel: from('events'), summary: 'Tell what happened', messages: all('events') },
};

/** Documents of classes, by their names, as the API document for HTTP has them. */
export type ClassSchemas = Readonly<Record<string, unknown>>;

/** The document of what goes over NATS (AsyncAPI 3.0, https://www.asyncapi.com/docs/reference/specification/v3.0.0). */
export function asyncApi(classes: ClassSchemas) {
  return {
    asyncapi: '3.0.0',
    info: { title: 'Intendant', version: '1', description },
    defaultContentType: 'application/json',
    servers: {
      nats: {
        host: '{address}',
        protocol: 'nats',
        description:
          'nats-server 2.10 or later with JetStream. Its credentials open subjects and say nothing about who acts.',
        variables: { address: { default: '127.0.0.1:4222', description: 'Host and port.' } },
        security: secured('natsUser', 'natsKey', 'natsCertificate'),
      },
    },
    channels,
    operations,
    components: {
      messages: Object.fromEntries(names.map((name) => [name, { name, ...(messages[name] as Message) }])),
      schemas: {
        ErrorObject: schemas.ErrorObject,
        IntentResult: agentResult,
        CloudEvent: cloudEvent,
        ...closed(classes, 'OpenRun', 'BudgetsRequest', 'RestrictionRequest'),
      },
      securitySchemes: schemes,
    },
  };
}

/** Members that nobody knows are refused, over HTTP by the validator of classes. */
function closed(classes: ClassSchemas, ...picked: readonly string[]): Record<string, Schema> {
  return Object.fromEntries(
    picked.map((name) => {
      const schema = classes[name];
      if (schema === undefined) throw new Error(`the API document has no schema ${name}`);
      return [name, { ...(schema as Schema), additionalProperties: false }];
    }),
  );
}
