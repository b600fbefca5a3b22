import type { EventRow, IntentRow } from '../history/database.js';
import type { Finding, Rule } from './finding.js';
import type { Log } from './log.js';
import type { Stories, Story } from './story.js';

/** I8: every log can be, and the row of its intent is what the log says. */
export const logIsWhole: Rule = (_, stories) => [
  ...stories.all.flatMap((story) => {
    const message = problemOf(story);
    return message === null ? [] : [{ rule: 'I8' as const, message, story }];
  }),
  ...sharedAttempts(stories),
];

function problemOf({ row, log, events }: Story): string | null {
  if (row === null) return `${events.length} events, and no row`;
  if (events.length === 0) return 'a row, and no events';
  return log.problem ?? differenceOf(row, log, events[0]);
}

function differenceOf(row: IntentRow, log: Log, recorded: EventRow | undefined): string | null {
  const proposal = (recorded?.data['proposal'] ?? {}) as Readonly<Record<string, unknown>>;
  const expected: readonly (readonly [keyof IntentRow, unknown])[] = [
    ['state', log.state],
    ['version', log.version],
    ['attempts', log.attempts.length],
    ['reason', log.reason],
    ['key', proposal['key']],
    ['fingerprint', proposal['fingerprint']],
    ['runId', proposal['runId']],
    ['stepId', proposal['stepId']],
    ['tool', proposal['tool']],
  ];
  const other = expected.find(([column, value]) => row[column] !== value);
  return other ? `its row says ${other[0]} ${String(row[other[0]])}, its log ${String(other[1])}` : null;
}

function sharedAttempts({ all }: Stories): Finding[] {
  const owners = new Map<string, Story>();
  return all.flatMap((story) =>
    story.log.attempts.flatMap(({ attemptId }) => {
      const owner = owners.get(attemptId);
      owners.set(attemptId, owner ?? story);
      return owner
        ? [{ rule: 'I8' as const, message: `attempt id ${attemptId} was given twice, also in ${owner.id}`, story }]
        : [];
    }),
  );
}
