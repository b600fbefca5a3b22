import { randomUUID } from 'node:crypto';
import type { ClientAnswer, ClientEntry } from '../history/clients.js';
import { rigTime } from '../rig/fault-log.js';

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
    this.entries.push({ at: rigTime(), requestId, phase: 'invoke', ...about });
    try {
      const answer = await send(AbortSignal.timeout(limitMs));
      this.entries.push({ at: rigTime(), requestId, phase: 'answered', ...about, answer });
      return answer;
    } catch (error) {
      const problem = error instanceof Error ? error.message || error.name : String(error);
      this.entries.push({ at: rigTime(), requestId, phase: 'unanswered', ...about, problem });
      return null;
    }
  }
}
