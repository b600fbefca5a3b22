import type { StatusMeaning } from '@intendant/contracts';

/** What a status says about one wire attempt; `transient`: the same request may succeed later. */
export interface StatusRule {
  readonly meaning: StatusMeaning;
  readonly transient: boolean;
}

const groups: readonly (readonly [StatusMeaning, boolean, readonly number[]])[] = [
  ['executed', false, [200, 201, 204]],
  ['accepted', false, [202]],
  // Receipts per part, which nobody has mapped.
  ['unknown', false, [206, 207]],
  // Many applications redirect after success.
  ['unknown', false, [301, 302, 303]],
  // Never followed: the address in the tool file is wrong.
  ['not_executed', false, [307, 308]],
  [
    'not_executed',
    false,
    [400, 401, 402, 403, 404, 405, 406, 407, 410, 411, 413, 414, 415, 417, 421, 422, 423, 424, 425, 426, 428, 431, 451],
  ],
  // 409 is "in progress" at some vendors and "already done" at others: only the tool file can say.
  ['unknown', false, [408, 409, 412]],
  ['not_executed', true, [429]],
  ['unknown', false, [499, 500, 502, 503, 504, 507, 508, 520, 522, 524]],
  ['not_executed', false, [501, 505, 511, 525, 526]],
  // Proxies that never reached their origin.
  ['not_executed', true, [521, 523, 530]],
];

/** The general table of statuses of one wire attempt, as in docs/outcomes.md. */
export const statusTable: ReadonlyMap<number, StatusRule> = new Map(
  groups.flatMap(([meaning, transient, statuses]) => statuses.map((status) => [status, { meaning, transient }])),
);

/** A status that nobody has thought about proves nothing. */
const unlisted: StatusRule = { meaning: 'unknown', transient: false };

/** The rule for a status, the tool file's own reading first. */
export function ruleOf(status: number, overrides: Readonly<Record<number, StatusMeaning>>): StatusRule {
  const override = overrides[status];
  if (override === undefined) return statusTable.get(status) ?? unlisted;
  return { meaning: override, transient: override === 'not_executed' && isTemporary(status) };
}

/** Whether a refusal with this status, where the tool says that it is one, may pass by itself. */
export function isTemporary(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
