import { subjects } from '@intendant/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';

/** A message as somebody who listens to everything hears it. */
export interface Heard {
  readonly subject: string;
  /** Where its sender wants an answer; empty: nowhere. */
  readonly reply: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Channel {
  readonly address: string | null;
  readonly messages: Readonly<Record<string, object>>;
}

export interface Document {
  readonly channels: Readonly<Record<string, Channel>>;
  readonly operations: Readonly<Record<string, { channel: { $ref: string }; reply?: { channel: { $ref: string } } }>>;
  readonly components: { readonly messages: Readonly<Record<string, { readonly headers?: object }>> };
}

/** What services say to each other and to operators: no part of the contract. */
const internal: readonly string[] = [
  'intendant.work.',
  'intendant.hint.',
  '$JS.',
  subjects.rpcReplayMessage,
  subjects.rpcReconcile,
  subjects.rpcPause,
  subjects.rpcGiveGrant,
];
/** By these a sender is told that its message is none. */
const notUnderstood = ['invalid_message', 'unauthenticated'];

/** Compares what was on the bus with an AsyncAPI document. */
export class NatsContract {
  /** Names of the messages of the document that were heard. */
  readonly found = new Set<string>();
  /** What the document does not know, and why. */
  readonly problems: string[] = [];
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  /** Which messages may come on a reply subject; null: what services have to do with each other. */
  private readonly replies = new Map<string, readonly string[] | null>();
  /** Requests that are no such message, by where their refusal has to come. */
  private readonly misshapen = new Map<string, string>();

  constructor(private readonly document: Document) {
    ajvFormats.default(this.ajv);
    this.ajv.addSchema(closed(document, false) as object, 'nats');
  }

  /** Takes the next message; in the order in which they were heard. */
  hear(message: Heard): void {
    const { subject, reply } = message;
    // Delivered from a stream to one of its consumers, under the subject that it was stored by.
    if (reply.startsWith('$JS.ACK.')) return;
    const expected = this.replies.get(subject);
    if (expected !== undefined) {
      if (expected !== null) this.hearReply(message, expected);
      return;
    }
    if (internal.some((each) => subject.startsWith(each))) {
      this.replies.set(reply, null);
      return;
    }
    const place = this.placeOf(subject);
    if (place === null) {
      this.problems.push(`${subject} is on no channel of the document`);
      return;
    }
    const wrong = place.names.map((name) => this.errorsOf(name, message));
    const at = wrong.indexOf('');
    if (at >= 0) this.found.add(place.names[at] as string);
    // Services publish events with an inbox for the acknowledgement, which is theirs.
    this.replies.set(reply, place.replies);
    if (at >= 0) return;
    if (place.replies !== null && reply !== '') this.misshapen.set(reply, `${subject}: ${wrong.join('; ')}`);
    else this.problems.push(`${subject}: ${wrong.join('; ')}: ${message.body}`);
  }

  /** What was heard of requests that are none, and that nobody refused. */
  end(): void {
    this.problems.push(...this.misshapen.values());
  }

  private hearReply(message: Heard, names: readonly string[]): void {
    const wrong = names.map((name) => this.errorsOf(name, message));
    const at = wrong.indexOf('');
    if (at >= 0) this.found.add(names[at] as string);
    else this.problems.push(`reply with ${message.body}: ${wrong.join('; ')}`);
    if (notUnderstood.includes(message.headers['Intendant-Error'] ?? '')) this.misshapen.delete(message.subject);
  }

  /** What is wrong with it as the message of that name; empty: nothing. */
  private errorsOf(name: string, { headers, body }: Heard): string {
    const declared = this.document.components.messages[name]?.headers;
    const parts: [string, unknown][] = [['payload', parse(body)]];
    if (declared !== undefined) parts.push(['headers', headers]);
    else if (Object.keys(headers).length > 0) return `${name} has no headers, but ${Object.keys(headers)}`;
    return parts
      .flatMap(([part, value]) => {
        this.ajv.validate({ $ref: `nats#/components/messages/${name}/${part}` }, value);
        return (this.ajv.errors ?? []).map(
          ({ instancePath, message, params }) => `${name}.${part}${instancePath} ${message} ${JSON.stringify(params)}`,
        );
      })
      .join(', ');
  }

  private placeOf(subject: string): { names: readonly string[]; replies: readonly string[] | null } | null {
    for (const [channel, { address, messages }] of Object.entries(this.document.channels)) {
      if (address === null) continue;
      const pattern = address.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^.]+)');
      const match = new RegExp(`^${pattern}$`).exec(subject);
      if (match === null) continue;
      // Where the last word of the subject says what happened, the message has that name.
      const event = match.groups?.['event'];
      const names = Object.keys(messages).filter((name) => event === undefined || name === event);
      return names.length === 0 ? null : { names, replies: this.repliesTo(channel) };
    }
    return null;
  }

  private repliesTo(channel: string): string[] | null {
    const operation = Object.values(this.document.operations).find(
      (each) => each.channel.$ref === `#/channels/${channel}`,
    );
    const name = operation?.reply?.channel.$ref.replace('#/channels/', '');
    return name === undefined ? null : Object.keys(this.document.channels[name]?.messages ?? {});
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body === '' ? '{}' : body);
  } catch {
    return undefined;
  }
}

/**
 * The document with no room for members that it does not name. Its readers have to leave that room, since members may be
 * added; these tests must not, or nobody would notice one that was added and not written down.
 */
function closed(value: unknown, isSchema: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => closed(each, isSchema));
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.entries(value).map(([name, part]) => [name, closedMember(name, part)]);
  const schema = Object.fromEntries(parts) as Record<string, unknown>;
  const named = ['properties', 'allOf', 'oneOf', '$ref'].some((keyword) => schema[keyword] !== undefined);
  if (isSchema && named && schema['additionalProperties'] === undefined) schema['unevaluatedProperties'] = false;
  return schema;
}

/** Members and items are schemas of their own; the parts of `allOf` and `oneOf` are about the same thing together. */
function closedMember(name: string, part: unknown): unknown {
  if (name === 'example' || name === 'examples') return part;
  if (name === 'properties') {
    return Object.fromEntries(Object.entries(part as object).map(([key, each]) => [key, closed(each, true)]));
  }
  return closed(part, ['items', 'payload', 'headers'].includes(name));
}
