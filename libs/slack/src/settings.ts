import { tenantPattern } from '@intendant/contracts';
import { ConfigError } from '@intendant/runtime';

/** What the notifier needs of `INTENDANT_SLACK`. */
export interface SlackPosting {
  readonly botToken: string;
  /** Channel by tenant; others hear nothing. */
  readonly channels: ReadonlyMap<string, string>;
  /** With a final slash. */
  readonly apiUrl: URL;
}

/** What the gateway needs of it. */
export interface SlackButtons {
  readonly signingSecret: string;
  /** Name of an operator by Slack user. */
  readonly users: ReadonlyMap<string, string>;
}

const known = ['botToken', 'signingSecret', 'channels', 'users', 'apiUrl'];
const example =
  '{ "botToken": "xoxb-…", "signingSecret": "…", "channels": { "acme": "C0123ABCD" }, "users": { "U024BE7LH": "olga" } }';

/** Null when it is not set. @throws ConfigError with every mistake; it never repeats a secret */
export function readSlackPosting(text: string | undefined): SlackPosting | null {
  return read(text, (fields) => ({
    botToken: fields.text('botToken', 'the token of a bot, xoxb-…', /^xoxb-[\x21-\x7e]+$/),
    channels: fields.map('channels', 'ids of channels by tenant', tenantPattern, /^[A-Z0-9]{2,32}$/),
    apiUrl: fields.apiUrl(),
  }));
}

/** Null when it is not set. @throws ConfigError with every mistake; it never repeats a secret */
export function readSlackButtons(text: string | undefined): SlackButtons | null {
  return read(text, (fields) => ({
    signingSecret: fields.text('signingSecret', 'the signing secret of the Slack app', /^[\x21-\x7e]{16,}$/),
    users: fields.map('users', 'names of operators by Slack user', /^[UW][A-Z0-9]{1,31}$/, /^[A-Za-z0-9._-]+$/),
  }));
}

function read<T>(text: string | undefined, build: (fields: Fields) => T): T | null {
  if (text === undefined) return null;
  const problems: string[] = [];
  const result = build(new Fields(parse(text), problems));
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return result;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The parser's own message quotes the text.
  }
  throw new ConfigError(`INTENDANT_SLACK must be a JSON object such as ${example}`);
}

/** Mistakes are collected, and reading goes on with something harmless. */
class Fields {
  constructor(
    private readonly data: Readonly<Record<string, unknown>>,
    private readonly problems: string[],
  ) {
    for (const field of Object.keys(data))
      if (!known.includes(field)) this.report(field, `is not known; must be one of ${known.join(', ')}`);
  }

  text(field: string, right: string, shape: RegExp): string {
    const value = this.data[field];
    if (typeof value === 'string' && shape.test(value)) return value;
    this.report(field, `${value === undefined ? 'is missing; ' : ''}must be ${right}`);
    return '';
  }

  map(field: string, right: string, key: RegExp, value: RegExp): ReadonlyMap<string, string> {
    const given = this.data[field];
    if (!isObject(given)) {
      this.report(field, `${given === undefined ? 'is missing; ' : ''}must be an object: ${right}`);
      return new Map();
    }
    const entries = Object.entries(given).filter((entry): entry is [string, string] => {
      const sound = key.test(entry[0]) && typeof entry[1] === 'string' && value.test(entry[1]);
      if (!sound) this.report(field, `${JSON.stringify(entry[0])} is wrong; must be ${right}, as in ${example}`);
      return sound;
    });
    return new Map(entries);
  }

  apiUrl(): URL {
    const text = this.data['apiUrl'] ?? 'https://slack.com/api/';
    if (typeof text === 'string' && /^https?:\/\/\S+\/$/.test(text) && URL.canParse(text)) return new URL(text);
    this.report('apiUrl', 'must be an http or https URL with a final slash; leave it out for Slack itself');
    return new URL('https://nowhere.invalid/');
  }

  private report(field: string, message: string): void {
    this.problems.push(`INTENDANT_SLACK.${field}: ${message}`);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
