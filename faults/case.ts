import type { Violation } from './history/violation.js';
import type { Machine } from './machine.js';

/** From the pure rules (L0) to random rounds on a whole installation (L5); docs/fault-testing.md says what each finds. */
export const layers = ['L0', 'L1', 'L2', 'L3', 'L4', 'L5'] as const;
export type Layer = (typeof layers)[number];

/** JSON that a case can be run again from, by the layer that wrote it. */
export type Replay = Readonly<Record<string, unknown>>;

export interface FaultCase {
  /** Unique; what `--case` takes, such as `S23`, `dispatcher.after_start kill executed`, `round 17`. */
  readonly name: string;
  readonly layer: Layer;
  run(context: CaseContext): Promise<CaseReport>;
  /** Called when the run is over, however it went, and perhaps more than once: for what several cases have in common. */
  close?(): Promise<void>;
}

export interface CaseContext {
  readonly machine: Machine;
  /** A directory of its own for this case; it is kept when the case fails. */
  readonly dir: string;
  /** One line for whoever watches. */
  say(line: string): void;
  /** The cases that come after it, which may share what it prepares, and may be prepared beside it. */
  readonly following: readonly FaultCase[];
  /** Aborted when the run is to end. */
  readonly signal: AbortSignal;
}

export interface CaseReport {
  readonly name: string;
  readonly layer: Layer;
  /** Empty when the promise held. */
  readonly violations: readonly Violation[];
  /** Why the case could not be judged (the rig itself failed, say); such a case counts as failed. */
  readonly broken?: string;
  readonly seed: number;
  readonly seconds: number;
  readonly intents: number;
  /** How often each kind of fault happened. */
  readonly faults: Readonly<Record<string, number>>;
  /** How often each dangerous state was really reached, by its name in docs/fault-testing.md. */
  readonly reached: Readonly<Record<string, number>>;
  /** Further figures of the layer, such as states explored. */
  readonly figures: Readonly<Record<string, number>>;
  /** What the case can be run again from, exactly; with a file of it, `--replay`. */
  readonly replay: Replay;
  /** The file with it, written where the case failed. */
  readonly replayFile?: string;
}

/** A layer lists its cases and runs one again from what it wrote. */
export interface LayerOfCases {
  readonly layer: Layer;
  /** What it does, for `--help` and the report. */
  readonly title: string;
  cases(options: LayerOptions): Promise<readonly FaultCase[]>;
  /** The case of that name where `cases` does not list it, or lists it together with others; null: look there. */
  named?(name: string): FaultCase | null;
  /** @throws when `replay` is not of this layer. */
  again(replay: Replay): FaultCase;
}

export interface LayerOptions {
  readonly seed: number;
  /** Random rounds wanted; layers that are not made of rounds ignore it. */
  readonly rounds: number;
  /** The short run that is part of `npm test`: a part of the cases, chosen to find most in few seconds. */
  readonly short: boolean;
}
