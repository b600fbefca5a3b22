import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CaseContext, CaseReport, FaultCase, LayerOfCases, Replay } from '../case.js';
import { Random } from '../rounds/random.js';
import { type Cell, cells, nameOf } from './cells.js';
import { inOrder } from './in-order.js';
import { type Judged, Matrix } from './matrix.js';

/** Cells of a short run. */
const shortCells = 8;
/** How many cells may strike while the first of them settles. */
const ahead = 30;
/** The last case of all: what the cells left altogether. */
const restName = 'points at rest';

/** L3: every fault point of every role, with everything that can be done to a process there. */
export const points: LayerOfCases = {
  layer: 'L3',
  title: 'fault point matrix: every point of every role × kill, pause beyond every lease, throw × executed or not',
  async cases({ seed, short }) {
    return casesOf(short ? someOf(seed) : inOrder(cells), seed, short);
  },
  again(replay: Replay) {
    const { cell: name, seed } = replay;
    const cell = cells.find((each) => nameOf(each) === name);
    if (typeof seed !== 'number' || (cell === undefined && name !== null)) {
      throw new Error(`a replay of L3 has a seed and the name of a cell, such as "${nameOf(cells[0] as Cell)}"`);
    }
    // What was left over at the end was left by any of them.
    const [again] = casesOf(cell ? [cell] : inOrder(cells), seed, false);
    return again as FaultCase;
  },
};

/** Others with each seed, and one of each role at least. */
function someOf(seed: number): Cell[] {
  const random = new Random(seed);
  const drawn = cells.map((cell) => ({ cell, lot: random.next() }));
  const mixed = drawn.sort((a, b) => a.lot - b.lot).map(({ cell }) => cell);
  const oneEach = mixed.filter(({ role }, at) => mixed.findIndex((each) => each.role === role) === at);
  return inOrder([...new Set([...oneEach, ...mixed])].slice(0, shortCells));
}

function casesOf(wanted: readonly Cell[], seed: number, hasten: boolean): FaultCase[] {
  const matrix = new Matrix(seed, hasten);
  const close = () => matrix.close();
  const cellOf = new Map<FaultCase, Cell>();
  const all = wanted.map((cell): FaultCase => {
    const run = async (context: CaseContext) => {
      const follow = context.following.flatMap((each) => cellOf.get(each) ?? []).slice(0, ahead);
      return kept(await matrix.judge(cell, follow, context), context);
    };
    const made: FaultCase = { name: nameOf(cell), layer: 'L3', run, close };
    cellOf.set(made, cell);
    return made;
  });
  const run = async (context: CaseContext) => kept(await matrix.atRest(restName, context), context);
  return [...all, { name: restName, layer: 'L3', run, close }];
}

/** What a verdict rests on, to be looked at. */
async function kept({ report, history }: Judged, { dir }: CaseContext): Promise<CaseReport> {
  if (report.violations.length > 0) await writeFile(path.join(dir, 'history.json'), JSON.stringify(history));
  return report;
}
