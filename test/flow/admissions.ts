import type { Session } from '@intendant/contracts';
import { RunTokens } from '@intendant/credentials';
import type { DeadMessage } from '@intendant/store';
import { ulid } from 'ulid';
import { expect } from 'vitest';
import type { Agent } from './clients.js';
import { eventually } from './eventually.js';
import { type Stack, tokenSecret } from './stack.js';

type Payload = string | Uint8Array;

/** A message that is admitted, told apart by `ref`. */
export function goodMessage(ref: string): string {
  return JSON.stringify({ tool: 'effects.keyed', args: { ref }, stepId: 's1' });
}

/** What a stack did with submitted messages: recorded them, kept them as dead, or neither. */
export class Admissions {
  /** Every token that was presented, to look for afterwards. */
  readonly tokens = new Set<string>();

  constructor(private readonly stack: Stack) {}

  async agent(over: Partial<Session> = {}): Promise<Agent> {
    const agent = await this.stack.agent(over);
    this.tokens.add(agent.token);
    return agent;
  }

  /** A token of the right secret unless another is given, whatever it says; its run need not exist. */
  async token(over: Partial<Session>, secret = tokenSecret): Promise<string> {
    const runId = `run_${ulid()}`;
    const session = {
      tenant: 'acme',
      runId,
      user: 'ada',
      profile: 'interactive',
      permissions: ['*'],
      phase: null,
    } as const;
    const token = await new RunTokens(secret).issue({ ...session, expiresAt: Date.now() + 3_600_000, ...over });
    this.tokens.add(token);
    return token;
  }

  async recorded({ runId }: Agent): Promise<number> {
    return (await this.stack.store.intents.list({ runId, limit: 10 })).length;
  }

  async dead(payload: Payload): Promise<DeadMessage[]> {
    const { deadMessages } = this.stack.store;
    const listed = await deadMessages.list({ limit: 1_000 });
    const whole = await Promise.all(listed.map(({ id }) => deadMessages.find(id)));
    return whole.flatMap((message) =>
      message && Buffer.from(message.payload).equals(Buffer.from(payload)) ? [message] : [],
    );
  }

  /** Publishes twice and resolves with the one dead message that is kept of it. */
  async kept(agent: Agent, payload: Payload, over: { tenant?: string; token?: string } = {}): Promise<DeadMessage> {
    await agent.publish(payload, over.tenant, over.token);
    await agent.publish(payload, over.tenant, over.token);
    const message = await eventually('a dead message', async () => (await this.dead(payload))[0]);
    await this.passed();
    expect(await this.dead(payload)).toHaveLength(1);
    return message;
  }

  /** Resolves when everything published before was dealt with, as far as it can be told: by what comes behind it. */
  async passed(): Promise<void> {
    const sentry = await this.agent();
    await sentry.publish(goodMessage('sentry'));
    await eventually('the message behind is recorded', async () => (await this.recorded(sentry)) === 1);
  }

  /** The service goes on: the same sender's next message is admitted and takes effect. */
  async stillWorks(agent: Agent): Promise<void> {
    expect(await agent.request(goodMessage('after'), '20s')).toMatchObject({ status: 'committed', error: null });
  }

  /** The tokens, whole or by their signature, that are found in any table or log; and how much was searched. */
  async leaks(): Promise<{ found: string[]; searched: number }> {
    const texts = this.stack.services.flatMap((service) => service.log);
    const tables = await this.stack.database.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
    );
    for (const { name } of tables) {
      const rows = await this.stack.database.query<{ text: string }>(`SELECT t::text AS text FROM "${name}" AS t`);
      texts.push(...rows.map((row) => row.text));
    }
    const all = texts.join('\n');
    const secrets = [...this.tokens].flatMap((token) => [token, token.split('.')[2] ?? token]);
    // Bytes are shown in hex.
    const found = secrets.filter((secret) => all.includes(secret) || all.includes(Buffer.from(secret).toString('hex')));
    return { found, searched: all.length };
  }
}
