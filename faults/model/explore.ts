import { setImmediate as turn } from 'node:timers/promises';
import { isTerminal } from '@intendant/intent';
import type { TimelineLine, Violation } from '../history/violation.js';
import { Book } from './book.js';
import { Broken } from './broken.js';
import { checkWorld } from './evidence.js';
import { Moves } from './moves.js';
import { proposalOf } from './proposal.js';
import { Rest } from './rest.js';
import type { Decide } from './step.js';
import { type Bounds, decode, encode, idleDispatcher, idleReconciler, type World } from './world.js';

export interface Explored {
  readonly states: number;
  /** Steps tried from them. */
  readonly steps: number;
  /** Different intents among them, whatever was going on around them. */
  readonly intents: number;
  /** Steps of the shortest way to the farthest state. */
  readonly depth: number;
  /** In how many states each dangerous state is. */
  readonly reached: Readonly<Record<string, number>>;
  readonly violation: Violation | null;
  /** False when it was told to end before it was through. */
  readonly whole: boolean;
}

/** States between two looks at whether the run is to end. */
const lot = 20_000;

/**
 * Every state that can be reached within the bounds, nearest first, so that the first way found to break the promise
 * is a shortest one. The same bounds give the same states in the same order.
 */
export async function explore(decide: Decide, bounds: Bounds, signal: AbortSignal): Promise<Explored> {
  const book = new Book(decide);
  const moves = new Moves(book, bounds);
  const rest = new Rest(decide, bounds);
  const keys: string[] = [];
  const parents: number[] = [];
  const seen = new Set<string>();
  const reached: Record<string, number> = {};
  const counted = (state: string) => {
    reached[state] = (reached[state] ?? 0) + 1;
  };
  const proposal = proposalOf(bounds.terms, bounds.expiresAt);
  const intent = book.record({ type: 'record', proposal, ruling: { allow: true } }, 0);
  const first: World = {
    now: 0,
    writtenAt: 0,
    intent,
    absences: 0,
    absentUpTo: 0,
    replays: 0,
    dispatchers: [idleDispatcher, idleDispatcher],
    reconcilers: [idleReconciler, idleReconciler],
    requests: [],
  };
  let [steps, depth, level] = [0, 0, 1];

  const add = (world: World, parent: number) => {
    const now = book.at(world.intent);
    const key = encode(world, now, bounds);
    if (seen.has(key)) return;
    seen.add(key);
    keys.push(key);
    parents.push(parent);
    for (const state of dangerous(world, book)) counted(state);
    checkWorld(world, now, bounds);
    rest.check(world, now);
  };
  const done = (violation: Violation | null, whole = true): Explored => {
    return { states: keys.length, steps, intents: book.size, depth, reached, violation, whole };
  };

  let from = 0;
  try {
    for (add(first, -1); from < keys.length; from += 1) {
      if (from === level) [depth, level] = [depth + 1, keys.length];
      moves.of(decode(keys[from] as string), (_who, _what, next) => {
        steps += 1;
        add(next, from);
      });
      if (from % lot === 0) await turn();
      if (signal.aborted) return done(null, false);
    }
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    const way = wayTo(from, keys, parents, moves, (world) => encode(world, book.at(world.intent), bounds));
    return done(violationOf(error, bounds, [...way, ...lastStep(decode(keys[from] as string), moves)]));
  }
  return done(null);
}

/** What happened on the shortest way to a state: the steps are made again, and those that led there are told. */
function wayTo(
  index: number,
  keys: readonly string[],
  parents: readonly number[],
  moves: Moves,
  keyOf: (world: World) => string,
): TimelineLine[] {
  const way: TimelineLine[] = [];
  for (let to = index; (parents[to] as number) >= 0; to = parents[to] as number) {
    const before = decode(keys[parents[to] as number] as string);
    let line: TimelineLine | null = null;
    moves.of(before, (who, what, next) => {
      if (line === null && keyOf(next) === keys[to]) line = { at: before.now, who, what };
    });
    if (line) way.unshift(line);
  }
  return way;
}

/** The step at which it broke is the last one that was begun; what came of it may be no state at all. */
function lastStep(before: World, moves: Moves): TimelineLine[] {
  let last: TimelineLine | null = null;
  try {
    moves.of(before, (who, what) => {
      last = { at: before.now, who, what };
    });
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return [];
  }
  return last ? [last] : [];
}

function violationOf({ rule, message }: Broken, bounds: Bounds, way: readonly TimelineLine[]): Violation {
  const declared = `${JSON.stringify(bounds.terms)}, authority ends at ${bounds.expiresAt}`;
  return { rule, message, intentId: null, timeline: [{ at: 0, who: 'tool file', what: declared }, ...way] };
}

/** By the names of docs/fault-testing.md. */
function dangerous({ intent: number, requests, dispatchers, reconcilers }: World, book: Book): string[] {
  const intent = book.at(number);
  const states: string[] = [];
  const effect = requests.some(({ is }) => is === 'done');
  if (effect && !isTerminal(intent)) states.push('effect that nobody knows of');
  if (requests.some(({ is }) => is === 'repeated')) states.push('dedupe hit');
  if (requests.filter(({ is }) => is === 'working').length > 1) states.push('two requests under way');
  if (intent.state === 'unknown' && requests.some(({ is }) => is === 'working')) states.push('settle wait');
  if (dispatchers.every(({ at }) => at !== 'idle')) states.push('two dispatchers at work');
  if (reconcilers.every(({ at }) => at === 'answered')) states.push('two answers about to be written');
  if (effect && reconcilers.some(({ answer }) => answer === 'absent')) states.push('absence out of date');
  if (requests.length > 1) states.push('resend');
  if (intent.corrections.length > 0) states.push('late evidence');
  return states;
}
