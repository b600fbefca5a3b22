import { argsOf, type Blend, settledMark, toolName } from './load-job.js';

export interface BenchRequest {
  readonly tool: string;
  readonly args: object;
  /** Number of the step, and of the agent that takes it: the same for a request and its repetition. */
  readonly step: number;
  /** How long the caller waits for the outcome, in ms. */
  readonly waitMs: number;
  /** What a right answer holds. */
  readonly mark: Buffer;
}

export const spreadTools = 1_000;
export const spreadTool = (n: number) => `${toolName}.t${n % spreadTools}`;
/** A tool that the runs of the benchmark have no permission for. */
export const forbiddenTool = 'bench.forbidden';
/** A tool of another upstream, see upstream.ts. */
export const hangingTool = 'bench.hanging';
/** In the body of a write whose effect happens and whose answer is 502, see upstream.ts. */
export const doubtfulMark = Buffer.from('"currency":"USD"');

const waitMs = 10_000;
/** Whoever submits what becomes unknown is told so after this; the system would hold its answer until it is settled. */
const doubtfulWaitMs = 500;
const cycle = 20;
/** Repetitions come this many requests after the first, so that most of those are settled. */
const repeatedAfter = 50 * cycle;

const recordedMark = Buffer.from('"intentId":"');
const deniedMark = Buffer.from('"status":"denied"');
const replayedMark = Buffer.from('"replayed":true');

type Kind = 'plain' | 'doubtful' | 'denied' | 'replay';

function kindOf(n: number): Kind {
  const place = n % cycle;
  if (place < 2) return 'doubtful';
  if (place === 2) return 'denied';
  return place < 7 && n >= repeatedAfter ? 'replay' : 'plain';
}

/** Request `n` of a blend; requests with different numbers are different intents, except for repetitions. */
export function requestOf(n: number, blend: Blend): BenchRequest {
  const plain = { tool: toolName, args: argsOf(n), step: n, waitMs, mark: settledMark };
  if (blend === 'plain') return plain;
  if (blend === 'unheard') return { ...plain, waitMs: 0, mark: recordedMark };
  if (blend === 'hanging') return { ...plain, tool: hangingTool, waitMs: 0, mark: recordedMark };
  if (blend === 'spread') return { ...plain, tool: spreadTool(n) };
  switch (kindOf(n)) {
    case 'plain':
      return plain;
    case 'doubtful':
      return { ...plain, args: { ...argsOf(n), currency: 'USD' }, waitMs: doubtfulWaitMs, mark: recordedMark };
    case 'denied':
      return { ...plain, tool: forbiddenTool, mark: deniedMark };
    case 'replay':
      return { ...requestOf(repeatedBy(n), blend), mark: replayedMark };
  }
}

/** Three of four repeat a plain request, one repeats a doubtful one. */
function repeatedBy(n: number): number {
  const place = n % cycle;
  return n - repeatedAfter - place + (place === 6 ? 0 : place + 5);
}

/** What the first `count` requests of a blend leave behind once all is settled. */
export function leftBehind(count: number, blend: Blend): { readonly committed: number; readonly denied: number } {
  if (blend !== 'mixed') return { committed: count, denied: 0 };
  const kinds = Array.from({ length: count }, (_, n) => kindOf(n));
  const of = (...wanted: Kind[]) => kinds.filter((kind) => wanted.includes(kind)).length;
  return { committed: of('plain', 'doubtful'), denied: of('denied') };
}
