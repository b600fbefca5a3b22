import type { DecisionPage, RecordedDecision } from '@intendant/contracts';
import { replay } from '@intendant/rules';
import type { Command } from 'commander';
import { call, queryOf } from '../client.js';
import { Settings } from '../config.js';
import type { Context } from '../context.js';
import { WrongUsage } from '../errors.js';
import { problemLine } from '../problem-line.js';
import { type PolicyOptions, readPolicies, toolsOption } from '../read-policies.js';
import { linesOf } from '../show-tally.js';
import { tallyOf } from '../tally.js';

interface Options extends PolicyOptions {
  readonly since: string;
  readonly tenant?: string;
  readonly tool?: string;
  readonly failOnChange?: boolean;
  readonly json?: boolean;
}

const pageSize = '200';
/** Decisions are found by the clocks of services, runs by that of the database: they may be this far apart, in ms. */
const clocksApart = 60_000;

export function addRulesTest(parent: Command, context: Context): void {
  parent
    .command('test')
    .description('judge recorded decisions anew by other policy files, and show what would change')
    .argument('<folder>', 'a directory of *.policy.yaml')
    .option('--since <time>', 'those since then: a duration such as 7d, or a time such as 2026-01-31T12:00:00Z', '7d')
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--tool <name>', 'only of this tool')
    .option(...toolsOption)
    .option('--fail-on-change', 'exit status 1 where anything would change')
    .option('--json', 'print JSON')
    .action(async (folder: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const candidate = await readPolicies(context, folder, options);
      if (candidate.set === null) {
        context.failed();
        if (options.json) return context.out(JSON.stringify({ problems: candidate.problems }));
        return candidate.problems.forEach((problem) => {
          context.out(problemLine(problem));
        });
      }
      const { tool: only } = options;
      if (only !== undefined && !candidate.tools.some(({ name }) => name === only)) {
        throw new WrongUsage(`There is no tool ${only}, so nothing would be looked at.`);
      }
      const { since, decisions } = await fetchDecisions(new Settings(context, options), options);
      // Of other tools, too: they are what the run had done.
      const replayed = replay(candidate, decisions, completeFrom(since));
      const tally = tallyOf([...replayed].filter(([{ tool }]) => options.tool === undefined || tool === options.tool));
      if (options.failOnChange && tally.totals.changed > 0) context.failed();
      const policy = candidate.set.version;
      if (options.json) return context.out(JSON.stringify({ since, policy, ...tally }));
      for (const line of linesOf(tally, since, policy)) context.out(line);
    });
}

/** All of them, page by page. */
async function fetchDecisions(
  settings: Settings,
  { since: asked, tenant }: Options,
): Promise<{ since: string; decisions: RecordedDecision[] }> {
  const decisions: RecordedDecision[] = [];
  let since: string | null = null;
  for (let cursor: string | undefined; ; ) {
    const query = queryOf({ since: since ?? asked, tenant, cursor, limit: pageSize });
    const page: DecisionPage = await call(settings, settings.operatorKey, 'GET', `/v1/decisions${query}`);
    since ??= page.since;
    decisions.push(...page.items);
    if (page.nextCursor === null) return { since, decisions };
    cursor = page.nextCursor;
  }
}

/** From when on everything is there that runs have done. */
function completeFrom(since: string): string {
  return `${new Date(Date.parse(since) + clocksApart).toISOString().slice(0, -1)}000Z`;
}
