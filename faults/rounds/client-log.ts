import { createHash, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { ClientAnswer, ClientEntry } from '../history/clients.js';

/** Ms since the epoch with a fraction, on the clock that the upstream's ledger goes by. */
export function timeNow(): number {
  return performance.timeOrigin + performance.now();
}

/** What a request is about. */
export type About = Pick<ClientEntry, 'operation' | 'via' | 'ref' | 'tool' | 'runId' | 'stepId' | 'argsHash'>;

/** What agents and operators did and were told, in the order of their time. */
export class ClientLog {
  readonly entries: ClientEntry[] = [];

  /**
   * Writes down a request, sends it, and writes down what came of it. Null when nothing did: the connection failed, or
   * `limitMs` passed. Never rejects.
   */
  async ask(
    about: About,
    limitMs: number,
    send: (signal: AbortSignal) => Promise<ClientAnswer>,
  ): Promise<ClientAnswer | null> {
    const requestId = randomUUID();
    this.entries.push({ at: timeNow(), requestId, phase: 'invoke', ...about });
    try {
      const answer = await send(AbortSignal.timeout(limitMs));
      this.entries.push({ at: timeNow(), requestId, phase: 'answered', ...about, answer });
      return answer;
    } catch (error) {
      const problem = error instanceof Error ? error.message || error.name : String(error);
      this.entries.push({ at: timeNow(), requestId, phase: 'unanswered', ...about, problem });
      return null;
    }
  }
}

/** The same for equal arguments, whatever the order of their fields. */
export function hashArgs(args: Readonly<Record<string, unknown>>): string {
  const sorted = Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}
