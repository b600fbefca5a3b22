import type { CaseReport } from '../case.js';

export interface RunFacts {
  /** In ms since the epoch. */
  readonly startedAt: number;
  readonly seconds: number;
  readonly seed: number;
  /** Of the sources; null outside a clone. */
  readonly commit: string | null;
  /** As they were read from the command line. */
  readonly options: unknown;
}

/** What a run came to: every case that was judged, and what it takes to run it again. */
export interface RunReport extends RunFacts {
  readonly cases: readonly CaseReport[];
  /** Cases that were asked for and not run: the time was over, or the run was ended. Left out: none. */
  readonly notRun?: number;
  /** The runs that it was added up from; left out where it is one run. */
  readonly runs?: readonly RunFacts[];
}

export function runsOf({ cases: _, notRun: __, runs, ...run }: RunReport): readonly RunFacts[] {
  return runs ?? [run];
}

/** Several runs as one; its own facts are those of the first, its time is that of all. @throws when a run is there twice. */
export function addUp(reports: readonly RunReport[]): RunReport {
  const runs = reports.flatMap(runsOf).sort((a, b) => a.startedAt - b.startedAt);
  const [first] = runs;
  if (!first) throw new Error('there are no reports to add up');
  const twice = runs.find(
    ({ startedAt, seed }, i) => startedAt === runs[i - 1]?.startedAt && seed === runs[i - 1]?.seed,
  );
  if (twice) {
    throw new Error(
      `the run of seed ${twice.seed}, begun at ${new Date(twice.startedAt).toISOString()}, is there twice`,
    );
  }
  const seconds = runs.reduce((sum, run) => sum + run.seconds, 0);
  const notRun = reports.reduce((sum, report) => sum + (report.notRun ?? 0), 0);
  return { ...first, seconds, cases: reports.flatMap(({ cases }) => cases), notRun, runs };
}
