import { ConfigError, type Environment } from '@intendant/runtime';
import { fillIn, maskReferences, unmaskReferences } from '@intendant/tools';
import { LineCounter, parseDocument } from 'yaml';
import { shortestSecret } from './redact.js';

/** How to get an access token as a client (OAuth 2.0 client credentials, RFC 6749, 4.4). */
export interface OAuthClient {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
  readonly audience: string | null;
  /** Where the client's own secret goes: in the Authorization header, or in the body. */
  readonly auth: 'basic' | 'post';
}

export type CredentialRule =
  | {
      readonly kind: 'fixed';
      readonly header: { readonly name: string; readonly value: string };
      readonly secret: string;
    }
  | { readonly kind: 'oauth'; readonly client: OAuthClient };

/** By name. */
export type CredentialRules = ReadonlyMap<string, CredentialRule>;

const shapes = {
  bearer: 'bearer: <token>',
  basic: 'basic: { user, password }',
  header: 'header: <name> with value: <secret>',
  oauth: 'oauth: { tokenUrl, clientId, clientSecret, scope, audience, auth }',
};
const oneOf = `must be one of ${Object.values(shapes).join('; ')}`;

/**
 * Reads `INTENDANT_CREDENTIALS`: YAML (so JSON too), credentials by name. `${NAME}` is filled in from the environment.
 *
 * @throws ConfigError with every mistake; it names credential and field, and never repeats a value
 */
export function parseCredentials(text: string, env: Environment): CredentialRules {
  const rules = new Map<string, CredentialRule>();
  const problems: string[] = [];
  for (const [name, given] of Object.entries(readYaml(text))) {
    const fields = new Fields(name, given, env, problems);
    if (!/^[a-z][a-z0-9_]{0,63}$/.test(name)) fields.report('', 'is no name; must be such as payments or mail_2');
    const rule = readRule(fields);
    if (rule !== null) rules.set(name, rule);
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return rules;
}

/** The parser's own messages quote the text, so only their kind and place are told. */
function readYaml(text: string): object {
  const lines = new LineCounter();
  const document = parseDocument(maskReferences(text), {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    logLevel: 'error',
  });
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined) {
    const { line } = lines.linePos(mistake.pos[0]);
    throw new ConfigError(`INTENDANT_CREDENTIALS: line ${line} is not valid YAML (${mistake.code})`);
  }
  const data = toData(document);
  if (!isObject(data)) throw new ConfigError('INTENDANT_CREDENTIALS: must be a mapping of names to credentials');
  return data;
}

function toData(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS();
  } catch {
    throw new ConfigError('INTENDANT_CREDENTIALS: has an alias that leads nowhere or repeats too much');
  }
}

function readRule(fields: Fields): CredentialRule | null {
  const kinds = Object.keys(shapes).filter((kind) => fields.has(kind));
  if (kinds.length !== 1) {
    fields.report('', `has ${kinds.join(' and ') || 'no kind of credential'}; ${oneOf}`);
    return null;
  }
  switch (kinds[0]) {
    case 'bearer': {
      fields.only(['bearer']);
      const token = fields.secret('bearer');
      return { kind: 'fixed', header: { name: 'Authorization', value: `Bearer ${token}` }, secret: token };
    }
    case 'header': {
      fields.only(['header', 'value']);
      const name = fields.headerName('header');
      const value = fields.secret('value');
      return { kind: 'fixed', header: { name, value }, secret: value };
    }
    case 'basic': {
      fields.only(['basic']);
      const inner = fields.inner('basic', ['user', 'password']);
      const secret = `${inner.text('user')}:${inner.secret('password')}`;
      const value = `Basic ${Buffer.from(secret, 'utf8').toString('base64')}`;
      return { kind: 'fixed', header: { name: 'Authorization', value }, secret };
    }
    default:
      fields.only(['oauth']);
      return { kind: 'oauth', client: readClient(fields) };
  }
}

function readClient(fields: Fields): OAuthClient {
  const inner = fields.inner('oauth', ['tokenUrl', 'clientId', 'clientSecret', 'scope', 'audience', 'auth']);
  const auth = inner.has('auth') ? inner.text('auth') : 'basic';
  if (auth !== 'basic' && auth !== 'post') inner.report('auth', 'must be basic or post');
  return {
    tokenUrl: inner.url('tokenUrl'),
    clientId: inner.text('clientId'),
    clientSecret: inner.secret('clientSecret'),
    scope: inner.has('scope') ? inner.text('scope') : null,
    audience: inner.has('audience') ? inner.text('audience') : null,
    auth: auth === 'post' ? 'post' : 'basic',
  };
}

/** Headers that the runtime and the HTTP client set themselves. */
const ownHeaders = ['idempotency-key', 'x-attempt-id', 'host', 'content-length', 'transfer-encoding', 'connection'];

/** The fields of one credential; mistakes are collected, and reading goes on with an empty text. */
class Fields {
  private readonly data: Readonly<Record<string, unknown>>;

  constructor(
    private readonly path: string,
    data: unknown,
    private readonly env: Environment,
    private readonly problems: string[],
  ) {
    this.data = isObject(data) ? (data as Record<string, unknown>) : {};
  }

  report(field: string, message: string): void {
    this.problems.push(`INTENDANT_CREDENTIALS ${this.path}${field && `.${field}`}: ${message}`);
  }

  has(field: string): boolean {
    return this.data[field] !== undefined && this.data[field] !== null;
  }

  only(known: readonly string[]): void {
    for (const field of Object.keys(this.data))
      if (!known.includes(field)) this.report(field, `is not known here; must be ${known.join(', ')}`);
  }

  inner(field: string, known: readonly string[]): Fields {
    const inner = new Fields(`${this.path}.${field}`, this.data[field], this.env, this.problems);
    inner.only(known);
    return inner;
  }

  /** Any text; numbers are taken as they are written. */
  text(field: string): string {
    const value = this.data[field];
    if ((typeof value !== 'string' && typeof value !== 'number') || value === '') {
      this.report(field, 'is missing; must be text, in quotes where YAML could read something else');
      return '';
    }
    const { text, missing } = fillIn(String(value), this.env);
    for (const name of missing) this.report(field, `the environment variable ${name} is not set`);
    return unmaskReferences(text);
  }

  secret(field: string): string {
    const value = this.text(field);
    // RFC 9110, 5.5: what a header can carry.
    if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && value !== '')
      this.report(field, 'has characters that a header cannot carry; must be printable ASCII without blanks around it');
    else if (value !== '' && value.length < shortestSecret)
      this.report(
        field,
        `has ${value.length} characters; must be ${shortestSecret} or more, or it cannot be told from other text`,
      );
    return value;
  }

  headerName(field: string): string {
    const name = this.text(field);
    // RFC 9110, 5.6.2.
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && name !== '')
      this.report(field, 'is not the name of a header; must be such as X-Api-Key');
    if (ownHeaders.includes(name.toLowerCase())) this.report(field, 'is set by the runtime; must be another');
    return name;
  }

  url(field: string): string {
    const text = this.text(field);
    const url = URL.canParse(text) ? new URL(text) : null;
    if (text !== '' && (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.hash !== ''))
      this.report(field, 'is not an http or https URL; must be like https://login.example/oauth/token');
    return text;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
