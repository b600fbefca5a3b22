import type { Unknowable } from '@intendant/rules';
import { type Columns, printable, table } from './table.js';
import type { Changes, Tally, Unknowns } from './tally.js';

const changes: Columns<Changes> = {
  CHANGE: ({ from, to }) => `${from} → ${to}`,
  RULE: ({ rule }) => rule,
  BEFORE: ({ before }) => before,
  COUNT: ({ count }) => count,
  INTENTS: namesOf,
};

const reasons: Record<Unknowable, string> = {
  before_policies: 'decided before there were policy files',
  no_run: 'nothing is recorded of its run',
  tool_not_loaded: 'its tool is not loaded',
  tool_changed: 'its tool has another version now',
  arguments_too_long: 'arguments over 16 KiB are not told',
  history_cut: 'the run began before the decisions that were read',
  same_moment: 'another call of the run was recorded at the same moment',
};

const unknowns: Columns<Unknowns> = {
  UNKNOWABLE: ({ why }) => reasons[why],
  RULE: ({ rule }) => rule,
  COUNT: ({ count }) => count,
  INTENTS: namesOf,
};

/** As lines for people. */
export function linesOf(tally: Tally, since: string, version: string): string[] {
  const { decisions, changed, unchanged, notByRules, unknowable } = tally.totals;
  const failing = tally.changes.flatMap(({ rule, error, intents }) =>
    error === null ? [] : [`${rule} cannot be evaluated for ${intents[0]}: ${printable(error)}`],
  );
  return [
    ...table(tally.changes, changes, 'no decision would change'),
    ...failing,
    ...(unknowable > 0 ? ['', ...table(tally.unknowable, unknowns, '')] : []),
    '',
    `${decisions} decisions since ${since}, policy ${version}: ` +
      `${changed} would change, ${unchanged} would not, ${notByRules} were not made by rules, ${unknowable} are unknowable`,
  ];
}

function namesOf({ count, intents }: Changes | Unknowns): string {
  return [...intents, ...(count > intents.length ? ['…'] : [])].join(' ');
}
