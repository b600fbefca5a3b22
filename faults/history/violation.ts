export const invariants = [
  'I1',
  'I2',
  'I3',
  'I4',
  'I5',
  'I6',
  'I7',
  'I8',
  'I9',
  'I10',
  'I11',
  'I12',
  'I13',
  'I14',
  'I15',
] as const;
export type Invariant = (typeof invariants)[number];

/** A promise that a history breaks, with the shortest story that shows it. */
export interface Violation {
  /** An invariant of docs/fault-testing.md, or the name of what a layer checks beside them. */
  readonly rule: Invariant | (string & {});
  /** One sentence with the numbers in it. */
  readonly message: string;
  /** Null where it is about no single intent. */
  readonly intentId: string | null;
  readonly timeline: readonly TimelineLine[];
}

export interface TimelineLine {
  /** Null where the story has an order but no clock. */
  readonly at: number | null;
  readonly who: string;
  readonly what: string;
}
