import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { argsHash } from '../history/args-hash.js';
import type { Installation, ReplicaName } from '../rig/installation.js';
import type { Channel } from '../rounds/channel.js';
import type { About, ClientLog } from '../rounds/client-log.js';
import { type ToolKind, toolName } from '../rounds/tools.js';

const patienceMs = 3_000;
const againMs = 200;

/** One call of an agent. */
export interface Call {
  readonly ref: string;
  readonly tool: ToolKind;
}

/** What a person sees of an approval, as far as it matters here. */
interface Card {
  readonly status: string;
  readonly digest: string;
  readonly preview: { readonly kind: string } | null;
}

/** Agents that send the same step again until somebody answers; all in one run. */
export class Clients {
  private constructor(
    private readonly installation: Installation,
    private readonly channel: Channel,
    private readonly log: ClientLog,
    private readonly run: { readonly runId: string; readonly token: string },
    private readonly signal: AbortSignal,
  ) {}

  /** `signal`: aborted when nobody is to be asked any more. */
  static async open(
    installation: Installation,
    channel: Channel,
    log: ClientLog,
    signal: AbortSignal,
  ): Promise<Clients> {
    const budgets = { calls: 1_000, mutating: 1_000, destructive: 100, wallClock: '24h' };
    const body = { user: 'ada', permissions: ['*'], profile: 'interactive', ttl: '24h', budgets };
    const { status, body: run } = await channel.call<{ runId: string; token: string }>(
      'POST',
      '/v1/runs',
      installation.serviceKey,
      { body, signal },
    );
    if (status !== 201) throw new Error(`a run could not be opened: ${status} ${JSON.stringify(run)}`);
    return new Clients(installation, channel, log, run, signal);
  }

  /** Resolves with the id of the intent. @throws when nobody is to be asked any more */
  async submit({ ref, tool }: Call): Promise<string> {
    const body = this.message(ref, tool);
    for (;;) {
      const answer = await this.log.ask(this.about(ref, tool, 'submit', 'http'), patienceMs, (signal) =>
        this.channel.ask('POST', '/v1/intents', this.run.token, { body, signal }),
      );
      if (answer?.intentId) return answer.intentId;
      await pause(againMs, undefined, { signal: this.signal });
    }
  }

  /** To the stream, and nothing else: asking for it over HTTP would make again what the stream has lost. */
  async publish({ ref, tool }: Call): Promise<string> {
    const { tenant, databaseUrl } = this.installation;
    await this.log.ask(this.about(ref, tool, 'submit', 'nats_publish'), patienceMs, (signal) =>
      this.channel.publish(this.message(ref, tool), this.run.token, tenant, { signal }),
    );
    const database = new Client({ connectionString: databaseUrl, application_name: 'rig-clients' });
    await database.connect();
    try {
      for (;;) {
        const { rows } = await database.query('SELECT id FROM intents WHERE step_id = $1', [ref]);
        if (rows[0]) return rows[0].id;
        await pause(againMs, undefined, { signal: this.signal });
      }
    } finally {
      await database.end();
    }
  }

  /** At the gateway of that name; at any where it does not answer. */
  async cancel(name: ReplicaName, intentId: string, { ref, tool }: Call): Promise<void> {
    const path = `/v1/intents/${intentId}/cancel`;
    const gateway = this.installation.gatewayUrls[Number(name.slice(name.indexOf('/') + 1))];
    const about = this.about(ref, tool, 'cancel', 'http');
    for (const at of [gateway ? { gateway } : {}, {}]) {
      const answer = await this.log.ask(about, patienceMs, (signal) =>
        this.channel.ask('POST', path, this.run.token, { body: {}, signal, ...at }),
      );
      if (answer !== null) return;
    }
  }

  /** Once what would change is known; at the gateway of that name first. Resolves when it waits for nobody any more. */
  async approve(name: ReplicaName, intentId: string, { ref, tool }: Call): Promise<void> {
    const { gatewayUrls, operatorKey } = this.installation;
    const first = name.startsWith('gateway') ? gatewayUrls[Number(name.slice(name.indexOf('/') + 1))] : undefined;
    const about = this.about(ref, tool, 'approve', 'http');
    const path = `/v1/approvals/${intentId}`;
    for (let at = first ? { gateway: first } : {}; ; at = {}) {
      const card = await this.channel
        .call<Card>('GET', path, operatorKey, { signal: AbortSignal.timeout(patienceMs) })
        .then(({ status, body }) => (status === 200 ? body : null))
        .catch(() => null);
      if (card !== null && card.status !== 'awaiting_approval') return;
      if (card !== null && card.preview?.kind !== 'asked') {
        const { digest } = card;
        await this.log.ask(about, patienceMs, (signal) =>
          this.channel.ask('POST', `${path}/approve`, operatorKey, { body: { digest }, signal, ...at }),
        );
      }
      await pause(againMs, undefined, { signal: this.signal });
    }
  }

  private message(ref: string, tool: ToolKind) {
    return { tool: toolName(tool), args: { ref, amount: 1 }, stepId: ref };
  }

  private about(ref: string, tool: ToolKind, operation: 'submit' | 'cancel' | 'approve', via: About['via']): About {
    const hash = operation === 'submit' ? argsHash({ ref, amount: 1 }) : null;
    return { operation, via, ref, tool: toolName(tool), runId: this.run.runId, stepId: ref, argsHash: hash };
  }
}
