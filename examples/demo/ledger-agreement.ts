import type { IntentRecord } from './intent-record.js';
import type { LedgerLine } from './upstream.js';

/** What the ledger says about one intent. */
export interface Facts {
  /** Requests and effects under the intent's key or one of its attempts' ids. */
  readonly requests: readonly LedgerLine[];
  readonly effects: readonly LedgerLine[];
}

/** The lines of the ledger that belong to an intent; looking somewhere up is not counted. */
export function factsAbout(intent: IntentRecord, ledger: readonly LedgerLine[]): Facts {
  const own = ledger.filter(
    ({ key, attemptId }) => key === intent.key || (attemptId != null && intent.attemptIds.includes(attemptId)),
  );
  return {
    requests: own.filter(({ kind }) => kind === 'request'),
    effects: own.filter(({ kind }) => kind === 'effect'),
  };
}

/**
 * Compares what the event log claims with what the upstream's ledger shows; one sentence per disagreement, none when
 * they agree. `mark` is a text that occurs in the answers about effects of this run and of no other: an effect that
 * carries it must belong to one of the intents.
 */
export function disagreements(intents: readonly IntentRecord[], ledger: readonly LedgerLine[], mark: string): string[] {
  const found = intents.flatMap((intent) => {
    const facts = factsAbout(intent, ledger);
    const problems = [...aboutEffects(intent, facts), ...aboutRequests(intent, facts)];
    return problems.map((problem) => `${intent.stepId} (${intent.tool}, intent ${intent.intentId}): ${problem}`);
  });
  return [...found, ...orphans(intents, ledger, mark)];
}

function aboutEffects(intent: IntentRecord, { effects }: Facts): string[] {
  const count = `effects in the ledger: ${effects.length}`;
  switch (intent.state) {
    case 'committed': {
      const wanted = intent.effect === 'read' ? 0 : 1;
      return effects.length === wanted ? [] : [`committed by ${intent.proof}; ${count}, expected: ${wanted}`];
    }
    case 'failed':
    case 'denied':
    case 'cancelled':
    case 'expired':
      return effects.length === 0 ? [] : [`${intent.state}; ${count}, expected: 0`];
    case 'dead_lettered':
    case 'open':
      return [`${intent.state}; the event log does not say whether it happened; ${count}`];
  }
}

function aboutRequests(intent: IntentRecord, { requests, effects }: Facts): string[] {
  const problems: string[] = [];
  for (const { kind, key, attemptId } of [...requests, ...effects]) {
    const known = attemptId != null && intent.attemptIds.includes(attemptId);
    if (!known) problems.push(`the ledger has a ${kind} of attempt ${attemptId}, which the event log never started`);
    if (key !== intent.key)
      problems.push(`a ${kind} of attempt ${attemptId} carries the key ${key}, not ${intent.key}`);
  }
  for (const id of intent.attemptIds) {
    const sent = requests.filter(({ attemptId }) => attemptId === id).length;
    if (sent > 1) problems.push(`attempt ${id} was on the wire ${sent} times`);
    if (sent === 0 && id === intent.answered) problems.push(`attempt ${id} was answered but never on the wire`);
  }
  return problems;
}

function orphans(intents: readonly IntentRecord[], ledger: readonly LedgerLine[], mark: string): string[] {
  const keys = new Set(intents.map(({ key }) => key));
  const attempts = new Set(intents.flatMap(({ attemptIds }) => attemptIds));
  return ledger
    .filter(
      ({ kind, answer }) =>
        kind === 'effect' &&
        JSON.stringify(answer ?? '')
          .toLowerCase()
          .includes(mark),
    )
    .filter(({ key, attemptId }) => !keys.has(key ?? '') && !attempts.has(attemptId ?? ''))
    .map(({ externalId, key }) => `effect ${externalId} under key ${key} belongs to no intent of this run`);
}
