import type { IntentRecord } from './intent-record.js';
import { factsAbout } from './ledger-agreement.js';
import { table } from './table.js';
import type { LedgerLine } from './upstream.js';

interface Row {
  readonly stepId: string;
  readonly tool: string;
  readonly state: string;
  readonly asked: number;
  readonly attempts: number;
  readonly requests: number;
  readonly effects: number;
}

/** Per intent and in total: how often the agent asked, what the event log started, what the ledger shows. */
export function summary(
  intents: readonly IntentRecord[],
  ledger: readonly LedgerLine[],
  asked: (stepId: string) => number,
): string {
  const rows = intents.map((intent): Row => {
    const { requests, effects } = factsAbout(intent, ledger);
    const { stepId, tool, state, proof, attemptIds } = intent;
    return {
      stepId,
      tool,
      state: proof === null ? state : `${state} by ${proof}`,
      asked: asked(stepId),
      attempts: attemptIds.length,
      requests: requests.length,
      effects: effects.length,
    };
  });
  const sum = (count: (row: Row) => number) => rows.reduce((total, row) => total + count(row), 0);
  const total: Row = {
    stepId: `${rows.length} intents`,
    tool: '',
    state: '',
    asked: sum((row) => row.asked),
    attempts: sum((row) => row.attempts),
    requests: sum((row) => row.requests),
    effects: sum((row) => row.effects),
  };
  return table(
    [
      { title: 'step', value: (row) => row.stepId },
      { title: 'tool', value: (row) => row.tool },
      { title: 'event log says', value: (row) => row.state },
      { title: 'asked', value: (row) => row.asked },
      { title: 'attempts', value: (row) => row.attempts },
      { title: 'on the wire', value: (row) => row.requests },
      { title: 'effects', value: (row) => row.effects },
    ],
    [...rows, total],
  );
}
