import type { CaseContext, CaseReport, FaultCase } from '../case.js';
import type { Violation } from '../history/violation.js';
import type { FileResult, TestResult } from './run-tests.js';
import { type Story, titlePattern } from './story.js';

/** Runs the tests of a file, at least those with these titles. */
export type RunFile = (file: string, titles: readonly string[], context: CaseContext) => Promise<FileResult>;

/** The story as a case: it holds when each of its tests was run and passed. */
export function storyCase({ id, tests = [] }: Story, seed: number, runFile: RunFile): FaultCase {
  const run = async (context: CaseContext): Promise<CaseReport> => {
    const results: TestResult[] = [];
    const problems: string[] = [];
    let seconds = 0;
    for (const file of new Set(tests.map(([name]) => name))) {
      const titles = tests.flatMap(([name, title]) => (name === file ? [title] : []));
      const result = await runFile(file, titles, context);
      seconds += result.seconds;
      for (const title of titles) {
        const ran = result.tests.filter((test) => test.status !== 'not_run' && titlePattern(title).test(test.title));
        results.push(...ran);
        if (ran.length === 0) problems.push(`"${title}" was not run: ${result.problem ?? `${file} has no such test`}`);
      }
    }
    return {
      ...{ name: id, layer: 'L4', seed, seconds, intents: 0, faults: {}, reached: {} },
      violations: results.flatMap((result) => violationsOf(id, result)),
      ...(problems.length > 0 && { broken: problems.join('\n') }),
      figures: { tests: results.length },
      replay: { story: id },
    };
  };
  return { name: id, layer: 'L4', run };
}

function violationsOf(id: string, { title, failure }: TestResult): Violation[] {
  if (failure === null) return [];
  const [first = '', ...lines] = failure.split('\n').filter((line) => line.trim() !== '');
  const timeline = lines.map((line) => ({ at: null, who: 'test', what: line.trim() }));
  return [{ rule: id, message: `${title}: ${first}`, intentId: null, timeline }];
}
