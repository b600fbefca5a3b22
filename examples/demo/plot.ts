import type { IntentRecord } from './intent-record.js';
import { factsAbout } from './ledger-agreement.js';
import type { LedgerLine } from './upstream.js';

interface Ending {
  readonly state: 'committed' | 'denied';
  readonly proof: 'response' | 'lookup' | 'poll' | 'operator' | null;
  readonly requests: number;
  readonly effects: number;
}

/** How each step ends when the story goes as it is told. */
const endings: Readonly<Record<string, Ending>> = {
  read: { state: 'committed', proof: 'response', requests: 1, effects: 0 },
  refund: { state: 'committed', proof: 'lookup', requests: 1, effects: 1 },
  mail: { state: 'committed', proof: 'response', requests: 2, effects: 1 },
  'refund-killed': { state: 'committed', proof: 'lookup', requests: 1, effects: 1 },
  ticket: { state: 'committed', proof: 'operator', requests: 1, effects: 1 },
  'refund-as-admin': { state: 'committed', proof: 'response', requests: 1, effects: 1 },
  'refund-large': { state: 'committed', proof: 'response', requests: 1, effects: 1 },
  'refund-refused': { state: 'denied', proof: null, requests: 0, effects: 0 },
  'refund-reworded': { state: 'denied', proof: null, requests: 0, effects: 0 },
};

/** Where the intents of a run ended otherwise; one sentence each. */
export function departures(intents: readonly IntentRecord[], ledger: readonly LedgerLine[]): string[] {
  const missing = Object.keys(endings).filter((stepId) => !intents.some((intent) => intent.stepId === stepId));
  return [...missing.map((stepId) => `${stepId}: there is no such intent`), ...intents.flatMap(departure)];

  function departure(intent: IntentRecord): string[] {
    const { requests, effects } = factsAbout(intent, ledger);
    const ending = endings[intent.stepId];
    if (!ending) return [`${intent.stepId}: an intent that the story does not tell of`];
    const told = describe(ending.state, ending.proof, ending.requests, ending.effects);
    const was = describe(intent.state, intent.proof, requests.length, effects.length);
    return was === told ? [] : [`${intent.stepId} is ${was}; in the story it is ${told}`];
  }
}

function describe(state: string, proof: string | null, requests: number, effects: number): string {
  return `${state} by ${proof ?? 'nothing'}, requests ${requests}, effects ${effects}`;
}
