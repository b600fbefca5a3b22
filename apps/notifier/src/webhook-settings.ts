import { publicEventNames, tenantPattern } from '@intendant/contracts';
import { ConfigError } from '@intendant/runtime';
import type { Egress } from '@intendant/upstream';

/** One destination, as `INTENDANT_WEBHOOKS` describes it. */
export interface WebhookSetting {
  readonly name: string;
  readonly url: URL;
  /** Keys to sign with, the current one first; two while one is changed. */
  readonly secrets: readonly Buffer[];
  /** `*`: every tenant. */
  readonly tenant: string;
  /** Last words of the types of the events that are sent. */
  readonly events: readonly string[];
}

const fields = ['name', 'url', 'secret', 'previousSecret', 'tenant', 'events'];
const defaultEvents = ['approval_requested', 'outcome_unknown', 'dead_lettered'];
/** Part of the name of a JetStream consumer. */
const namePattern = /^[a-z0-9][a-z0-9_-]{0,31}$/;
const example = '[{ "name": "ops", "url": "https://ops.example.com/hook", "secret": "whsec_…", "tenant": "acme" }]';

/** @throws ConfigError with every mistake; it names entry and field, and never repeats a secret */
export function readWebhooks(text: string | undefined, egress: Egress): WebhookSetting[] {
  if (text === undefined) return [];
  const problems: string[] = [];
  const read = parse(text).map((entry, index) => readEntry(new Entry(entry, index, problems), egress));
  const names = read.map(({ name }) => name);
  names.forEach((name, index) => {
    if (names.indexOf(name) !== index) problems.push(`INTENDANT_WEBHOOKS[${index}].name: ${name} is there twice`);
  });
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return read;
}

function parse(text: string): unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new ConfigError(`INTENDANT_WEBHOOKS is not valid JSON; must be a list such as ${example}`);
  }
  if (!Array.isArray(value)) throw new ConfigError(`INTENDANT_WEBHOOKS must be a list such as ${example}`);
  return value;
}

function readEntry(entry: Entry, egress: Egress): WebhookSetting {
  entry.only(fields);
  const name = entry.text('name', 'a name such as ops', (text) => namePattern.test(text));
  const tenant = entry.text(
    'tenant',
    'a tenant such as acme, or * for all',
    (text) => text === '*' || tenantPattern.test(text),
  );
  const secrets = [entry.secret('secret'), ...(entry.has('previousSecret') ? [entry.secret('previousSecret')] : [])];
  return { name, url: entry.url(egress), secrets, tenant, events: entry.events() };
}

/** The fields of one entry; mistakes are collected, and reading goes on with something harmless. */
class Entry {
  private readonly data: Readonly<Record<string, unknown>>;
  private readonly place: string;

  constructor(
    data: unknown,
    index: number,
    private readonly problems: string[],
  ) {
    const sound = typeof data === 'object' && data !== null && !Array.isArray(data);
    this.data = sound ? (data as Record<string, unknown>) : {};
    const { name } = this.data;
    this.place = `INTENDANT_WEBHOOKS[${index}]${typeof name === 'string' && namePattern.test(name) ? ` (${name})` : ''}`;
    if (!sound) problems.push(`${this.place} must be an object with the fields ${fields.join(', ')}`);
  }

  has(field: string): boolean {
    return this.data[field] !== undefined;
  }

  only(known: readonly string[]): void {
    for (const field of Object.keys(this.data))
      if (!known.includes(field)) this.report(field, `is not known; must be one of ${known.join(', ')}`);
  }

  text(field: string, right: string, isRight: (text: string) => boolean): string {
    const value = this.data[field];
    if (typeof value === 'string' && isRight(value)) return value;
    this.report(field, `${value === undefined ? 'is missing; ' : ''}must be ${right}`);
    return '';
  }

  /** The key itself: 24 to 64 bytes (Standard Webhooks, "Signature scheme"). */
  secret(field: string): Buffer {
    const right = 'whsec_ and 24 to 64 random bytes in base64; make one with: echo "whsec_$(openssl rand -base64 32)"';
    const text = this.text(field, right, (given) => {
      const bytes = keyOf(given).length;
      return /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(given) && bytes >= 24 && bytes <= 64;
    });
    return keyOf(text);
  }

  url(egress: Egress): URL {
    const text = this.text(
      'url',
      'an http or https URL without user and fragment, such as https://ops.example.com/hook',
      isAddress,
    );
    const url = new URL(text || 'https://nowhere.invalid');
    const refusal = egress.refusal(url.hostname, Number(url.port) || (url.protocol === 'https:' ? 443 : 80));
    if (text !== '' && refusal !== null) this.report('url', refusal);
    return url;
  }

  events(): readonly string[] {
    if (!this.has('events')) return defaultEvents;
    const given = this.data['events'];
    const sound = Array.isArray(given) && given.length > 0 && given.every((event) => publicEventNames.includes(event));
    if (!sound) this.report('events', `must be a list of some of ${publicEventNames.join(', ')}`);
    return sound ? [...new Set(given as string[])] : defaultEvents;
  }

  private report(field: string, message: string): void {
    this.problems.push(`${this.place}.${field}: ${message}`);
  }
}

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '' && hash === '';
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}
