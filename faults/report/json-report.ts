import type { RunReport } from './run-report.js';

/** For `--add-up` and for machines. What a case that held could be run again from is left out: its seed says it. */
export function jsonReport(run: RunReport): string {
  const cases = run.cases.map((each) =>
    each.violations.length === 0 && each.broken === undefined ? { ...each, replay: {} } : each,
  );
  return `${JSON.stringify({ ...run, cases }, null, 1)}\n`;
}

/** @throws when `text` is no report; `file` is where it came from, for the message. */
export function readReport(text: string, file: string): RunReport {
  try {
    const report = JSON.parse(text) as Partial<RunReport>;
    if (Array.isArray(report.cases) && typeof report.startedAt === 'number') return report as RunReport;
  } catch {
    // Whatever it is instead, it is not what was asked for.
  }
  throw new Error(`${file} is not a JSON report of a run`);
}
