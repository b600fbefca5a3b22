import { createHash } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Budgets,
  type ErrorObject,
  type IntentResult,
  noBudgets,
  type Session,
  subjects,
} from '@intendant/contracts';
import { RunTokens } from '@intendant/credentials';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { ulid } from 'ulid';
import { type EntryOf, select } from '../../examples/upstream/ledger-entry.js';
import { startUpstream, type Upstream } from '../../examples/upstream/server.js';
import { Agent, Operator } from './clients.js';
import { type Service, startService } from './service.js';

export const serviceKey = 'service-key-of-the-flow-tests';
export const operatorKey = 'operator-key-of-the-flow-tests';
export const approvalSecret = 'approval-secret-of-the-flow-tests-0123456789';
export const tokenSecret = 'token-secret-of-the-flow-tests-0123456789';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** People by name; `ada` is also whom the runs of the tests act for. */
const people = {
  erin: 'viewer+approver/finance',
  frank: 'viewer+approver/finance',
  gina: 'viewer+approver',
  vera: 'viewer',
  ada: 'viewer+approver/finance',
} as const;
export type Person = keyof typeof people;

export function keyOf(person: Person): string {
  return `operator-key-of-${person}`;
}

const approverKeys = Object.entries(people).map(
  ([name, roles]) => `${name}@acme:${roles}=${sha256(keyOf(name as Person))}`,
);

/** A whole installation: real PostgreSQL and NATS, an upstream with a ledger, and services as processes. */
export class Stack {
  readonly services: Service[] = [];

  private constructor(
    readonly database: TestDatabase,
    readonly nats: NatsServer,
    readonly upstream: Upstream,
    /** For looking at what the services wrote. */
    readonly store: Store,
    /** The tests' own connection to NATS. */
    readonly bus: NatsConnection,
    private readonly toolsDir: string,
    private readonly extraEnv: Readonly<Record<string, string>>,
  ) {
    // The same hints that services hear, so that waiting tests look at once.
    bus.subscribe(subjects.hintChanged, { callback: (_, message) => store.outcomes.notify(message.json<string[]>()) });
  }

  static async start(
    options: {
      services?: readonly string[];
      toolsDir?: string;
      env?: Readonly<Record<string, string>>;
      /** One of the test's own; without it, a new one on the server that all tests share. */
      database?: TestDatabase;
    } = {},
  ): Promise<Stack> {
    const [database, nats, upstream] = await Promise.all([
      options.database ?? createDatabase(),
      startNats(),
      startUpstream(),
    ]);
    const store = await Store.open({ url: database.url, name: 'flow-test' });
    const bus = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
    const toolsDir = options.toolsDir ?? path.join(path.dirname(fileURLToPath(import.meta.url)), 'tools');
    const stack = new Stack(database, nats, upstream, store, bus, toolsDir, options.env ?? {});
    const starting = (options.services ?? ['standalone']).map((name) => stack.launch(name));
    try {
      await Promise.all(starting);
    } catch (error) {
      // Its siblings must not outlive the one that could not start.
      await Promise.allSettled(starting);
      await stack.stop();
      throw error;
    }
    return stack;
  }

  /** Starts one more replica; `fault` is a value of INTENDANT_FAULT, `env` wins over what all services get. */
  async launch(name: string, fault?: string, env: Readonly<Record<string, string>> = {}): Promise<Service> {
    const armed: Record<string, string> = fault === undefined ? {} : { INTENDANT_FAULT: fault };
    const service = await startService(name, { ...this.environment(), ...armed, ...env });
    this.services.push(service);
    return service;
  }

  environment(): Record<string, string> {
    return {
      INTENDANT_DATABASE_URL: this.database.url,
      INTENDANT_NATS_URL: this.nats.url,
      INTENDANT_TOOLS_DIR: this.toolsDir,
      INTENDANT_TOKEN_SECRET: tokenSecret,
      INTENDANT_APPROVAL_SECRET: approvalSecret,
      INTENDANT_SERVICE_KEYS: `flow@acme=${sha256(serviceKey)}`,
      INTENDANT_OPERATOR_KEYS: [`olga@*:viewer+operator=${sha256(operatorKey)}`, ...approverKeys].join(','),
      INTENDANT_LOG_LEVEL: 'info',
      INTENDANT_EGRESS_PRIVATE: '127.0.0.0/8',
      DEMO_UPSTREAM_URL: this.upstream.url,
      // Another upstream for tests that start one; the same one for all others.
      SECOND_UPSTREAM_URL: this.upstream.url,
      ...this.extraEnv,
    };
  }

  /** Base URL of a gateway that runs. */
  get url(): string {
    const gateway = this.services.findLast((service) => service.name === 'gateway' || service.name === 'standalone');
    if (!gateway) throw new Error('this stack has no gateway');
    return gateway.url;
  }

  /** An agent with a run of its own, which lives an hour; `over` changes what its run and token say. */
  async agent(over: Partial<Session> = {}, ttlMs = 3_600_000, budgets: Budgets = noBudgets): Promise<Agent> {
    const session = {
      runId: `run_${ulid()}`,
      tenant: 'acme',
      user: 'ada',
      profile: 'interactive',
      permissions: ['*'],
      phase: null,
      ...over,
    } as const;
    const run = await this.store.runs.open({ ...session, id: session.runId, openedBy: 'flow', budgets }, ttlMs);
    const token = await new RunTokens(tokenSecret).issue({ ...session, expiresAt: over.expiresAt ?? run.expiresAt });
    return new Agent(this.bus, () => this.url, session.runId, token);
  }

  operator(): Operator {
    return new Operator(() => this.url, operatorKey);
  }

  person(name: Person): Operator {
    return new Operator(() => this.url, keyOf(name));
  }

  /** Asks a service over NATS, as an operator unless told otherwise; the answer may be `{ error }`. */
  async ask<T>(
    subject: string,
    body: unknown = {},
    credential = operatorKey,
  ): Promise<T & { error?: ErrorObject | null }> {
    const head = headers();
    head.set('Authorization', `Bearer ${credential}`);
    const reply = await this.bus.request(subject, JSON.stringify(body), { headers: head, timeout: 30_000 });
    return reply.json();
  }

  /** Effects in the upstream's ledger, for one intent's key or over all. */
  effects(key?: string): EntryOf<'effect'>[] {
    return select(this.upstream.ledger(), 'effect', key === undefined ? {} : { key });
  }

  requests(key?: string): EntryOf<'request'>[] {
    return select(this.upstream.ledger(), 'request', key === undefined ? {} : { key });
  }

  /** The key under which the upstream sees an intent. */
  async keyOf(intentId: string): Promise<string> {
    const intent = await this.store.intents.load(intentId);
    if (!intent) throw new Error(`no intent ${intentId}`);
    return intent.proposal.key;
  }

  /** Waits on the log, not on the gateway, so that it also works while services are down. */
  async settled(intentId: string, timeoutMs = 20_000): Promise<IntentResult['status']> {
    const intent = await this.store.outcomes.wait(intentId, timeoutMs);
    return intent?.state ?? 'pending';
  }

  async stop(): Promise<void> {
    await Promise.all(this.services.map((service) => service.stop()));
    await this.bus.close();
    await this.store.close();
    await Promise.all([this.upstream.close(), this.nats.stop()]);
    await this.database.drop();
  }
}
