import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from '@intendant/runtime';
import type { Context } from './context.js';
import { CommandFailed } from './errors.js';

/** Options that every command understands. */
export interface Flags {
  readonly url?: string;
  readonly serviceKey?: string;
  readonly operatorKey?: string;
  readonly token?: string;
  readonly runFile?: string;
}

/** A run that was opened here and kept for the commands that follow. */
export interface SavedRun {
  readonly runId: string;
  readonly token: string;
  readonly expiresAt: string;
}

/** Names that only the command line knows; services refuse INTENDANT_* names they do not know. */
const ownNames = ['INTENDANT_URL', 'INTENDANT_SERVICE_KEY', 'INTENDANT_OPERATOR_KEY', 'INTENDANT_RUN_TOKEN'];
const defaultUrl = 'http://127.0.0.1:8080';

/** Where the gateway is and how to get in: flags before environment before what a running stack left in `.intendant/`. */
export class Settings {
  private readonly run: Record<string, unknown>;
  private readonly credentials: Record<string, unknown>;

  constructor(
    private readonly context: Context,
    private readonly flags: Flags,
  ) {
    this.run = this.read('run.json');
    this.credentials = this.read('credentials.json');
  }

  get url(): string {
    const { env } = this.context;
    return (this.flags.url ?? env['INTENDANT_URL'] ?? text(this.run['url']) ?? defaultUrl).replace(/\/+$/, '');
  }

  get serviceKey(): string {
    const key = this.flags.serviceKey ?? this.context.env['INTENDANT_SERVICE_KEY'] ?? this.kept('serviceKey');
    return key ?? missing('a service key', '--service-key or INTENDANT_SERVICE_KEY');
  }

  get operatorKey(): string {
    return this.givenOperatorKey ?? missing('an operator key', '--operator-key or INTENDANT_OPERATOR_KEY');
  }

  get token(): string {
    return this.givenToken ?? missing('a run token', '--token, INTENDANT_RUN_TOKEN, or `run open --save`');
  }

  /** For what agents and operators may both do: the token where one is given on purpose, else whatever there is. */
  get anyCredential(): string {
    const chosen = this.flags.token ?? (this.flags.runFile === undefined ? undefined : this.givenToken);
    const found = chosen ?? this.givenOperatorKey ?? this.givenToken;
    return found ?? missing('an operator key or a run token', '--operator-key, --token, or their variables');
  }

  get savedRun(): SavedRun | null {
    const file = this.flags.runFile ?? this.runFile;
    const { runId, token, expiresAt } = readJson(file, this.flags.runFile !== undefined);
    if (typeof runId !== 'string' || typeof token !== 'string') return null;
    return { runId, token, expiresAt: String(expiresAt) };
  }

  /** Only its owner may read the file: the token in it is a credential. Returns where it is. */
  save(run: SavedRun): string {
    const file = this.flags.runFile ?? this.runFile;
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${JSON.stringify(run, null, 2)}\n`, { mode: 0o600 });
    return file;
  }

  /** The environment of a service started from here. */
  get serviceEnvironment(): Environment {
    const { env } = this.context;
    const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !ownNames.includes(name)));
    return {
      ...without({
        INTENDANT_DATABASE_URL: text(this.run['databaseUrl']),
        INTENDANT_NATS_URL: text(this.run['natsUrl']),
        INTENDANT_TOOLS_DIR: text(this.run['toolsDir']),
        INTENDANT_POLICY_DIR: text(this.run['policyDir']),
        INTENDANT_EGRESS_PRIVATE: text(this.run['egressPrivate']),
        DEMO_UPSTREAM_URL: text(this.run['upstreamUrl']),
      }),
      ...without(rest),
    };
  }

  private get givenToken(): string | undefined {
    if (this.flags.token !== undefined) return this.flags.token;
    if (this.flags.runFile !== undefined) return this.savedRun?.token;
    return this.context.env['INTENDANT_RUN_TOKEN'] ?? this.savedRun?.token;
  }

  private get givenOperatorKey(): string | undefined {
    return this.flags.operatorKey ?? this.context.env['INTENDANT_OPERATOR_KEY'] ?? this.kept('operatorKey');
  }

  private get runFile(): string {
    return path.join(this.context.directory, '.intendant', 'cli-run.json');
  }

  private kept(name: string): string | undefined {
    return text(this.run[name]) ?? text(this.credentials[name]);
  }

  private read(name: string): Record<string, unknown> {
    return readJson(path.join(this.context.directory, '.intendant', name), false);
  }
}

function readJson(file: string, required: boolean): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !required) return {};
    throw new CommandFailed(`${file} cannot be read: ${message}`);
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function without(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

function missing(what: string, where: string): never {
  throw new CommandFailed(`This needs ${what}: give ${where}.`);
}
