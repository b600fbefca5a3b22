import type { IntentRecord } from './intent-record.js';
import { factsAbout } from './ledger-agreement.js';
import type { LedgerLine } from './upstream.js';

interface Ending {
  readonly proof: 'response' | 'lookup' | 'poll' | 'operator';
  readonly requests: number;
  readonly effects: number;
}

/** How each step ends when the story goes as it is told. All of them end committed. */
const endings: Readonly<Record<string, Ending>> = {
  read: { proof: 'response', requests: 1, effects: 0 },
  refund: { proof: 'lookup', requests: 1, effects: 1 },
  mail: { proof: 'response', requests: 2, effects: 1 },
  'refund-killed': { proof: 'lookup', requests: 1, effects: 1 },
  ticket: { proof: 'operator', requests: 1, effects: 1 },
  'refund-as-admin': { proof: 'response', requests: 1, effects: 1 },
};

/** Where the intents of a run ended otherwise; one sentence each. */
export function departures(intents: readonly IntentRecord[], ledger: readonly LedgerLine[]): string[] {
  const missing = Object.keys(endings).filter((stepId) => !intents.some((intent) => intent.stepId === stepId));
  return [...missing.map((stepId) => `${stepId}: there is no such intent`), ...intents.flatMap(departure)];

  function departure(intent: IntentRecord): string[] {
    const { requests, effects } = factsAbout(intent, ledger);
    const ending = endings[intent.stepId];
    if (!ending) return [`${intent.stepId}: an intent that the story does not tell of`];
    const told = describe('committed', ending.proof, ending.requests, ending.effects);
    const was = describe(intent.state, intent.proof, requests.length, effects.length);
    return was === told ? [] : [`${intent.stepId} is ${was}; in the story it is ${told}`];
  }
}

function describe(state: string, proof: string | null, requests: number, effects: number): string {
  return `${state} by ${proof ?? 'nothing'}, requests ${requests}, effects ${effects}`;
}
