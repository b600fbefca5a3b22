import { Command, CommanderError } from 'commander';
import {
  addApprovalsApprove,
  addApprovalsDecide,
  addApprovalsRefuse,
  addApprovalsWithdraw,
} from './commands/approvals-decide.js';
import { addApprovalsList } from './commands/approvals-list.js';
import { addApprovalsShow } from './commands/approvals-show.js';
import { addDeadLettersDismiss } from './commands/dead-letters-dismiss.js';
import { addDeadLettersList } from './commands/dead-letters-list.js';
import { addDeadLettersReplay } from './commands/dead-letters-replay.js';
import { addDeadLettersShow } from './commands/dead-letters-show.js';
import { addGrantsGive } from './commands/grants-give.js';
import { addGrantsList } from './commands/grants-list.js';
import { addGrantsRevoke } from './commands/grants-revoke.js';
import { addGrantsShow } from './commands/grants-show.js';
import { addIntentsCancel } from './commands/intents-cancel.js';
import { addIntentsList } from './commands/intents-list.js';
import { addIntentsResolve } from './commands/intents-resolve.js';
import { addIntentsShow } from './commands/intents-show.js';
import { addIntentsWatch } from './commands/intents-watch.js';
import { addPause } from './commands/pause.js';
import { addPauses } from './commands/pauses.js';
import { addReconcile } from './commands/reconcile.js';
import { addResultsRead } from './commands/results-read.js';
import { addResume } from './commands/resume.js';
import { addRulesLint } from './commands/rules-lint.js';
import { addRulesTest } from './commands/rules-test.js';
import { addRunClose } from './commands/run-close.js';
import { addRunOpen } from './commands/run-open.js';
import { addRunPhase } from './commands/run-phase.js';
import { addSubmit } from './commands/submit.js';
import { addToolsCertify } from './commands/tools-certify.js';
import { addToolsLint } from './commands/tools-lint.js';
import { addToolsList } from './commands/tools-list.js';
import { addToolsSchema } from './commands/tools-schema.js';
import type { Context } from './context.js';
import { CommandFailed, WrongUsage } from './errors.js';

const done = 0;
const failed = 1;
const wrongUsage = 2;

/** Runs one command line; returns its exit status: 0 done, 1 failed, 2 wrong usage. */
export async function run(argv: readonly string[], world: Omit<Context, 'failed'>): Promise<number> {
  let status = done;
  const context: Context = {
    ...world,
    failed: () => {
      status = failed;
    },
  };
  try {
    await program(context).parseAsync([...argv], { from: 'user' });
    return status;
  } catch (error) {
    return explain(error, context);
  }
}

function program(context: Context): Command {
  const root = new Command('intendant')
    .description('A durable gateway between AI agents and tools with side effects.')
    .version(context.version, '--version', 'print the version')
    .option('--url <url>', 'address of the gateway (INTENDANT_URL)')
    .option('--service-key <key>', 'for run open, phase and close (INTENDANT_SERVICE_KEY)')
    .option('--operator-key <key>', 'for operators (INTENDANT_OPERATOR_KEY)')
    .option('--token <token>', 'run token, for agents (INTENDANT_RUN_TOKEN)')
    .option('--run-file <file>', 'where `run open --save` keeps the run (.intendant/cli-run.json)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.out(text.trimEnd()),
      writeErr: (text) => context.err(text.trimEnd()),
    })
    .showHelpAfterError('(--help shows how it is used)');
  const runs = root.command('run').description('runs of trusted agent runtimes');
  addRunOpen(runs, context);
  addRunPhase(runs, context);
  addRunClose(runs, context);
  addSubmit(root, context);
  const intents = root.command('intents').description('what agents proposed, and what became of it');
  for (const add of [addIntentsList, addIntentsShow, addIntentsWatch, addIntentsCancel, addIntentsResolve])
    add(intents, context);
  addResultsRead(root.command('results').description('data that was too large to be shown'), context);
  const approvals = root.command('approvals').description('what waits for people, and what they say');
  for (const add of [
    addApprovalsList,
    addApprovalsShow,
    addApprovalsApprove,
    addApprovalsRefuse,
    addApprovalsWithdraw,
    addApprovalsDecide,
  ])
    add(approvals, context);
  const deadLetters = root.command('dead-letters').description('what waits for a person');
  for (const add of [addDeadLettersList, addDeadLettersShow, addDeadLettersReplay, addDeadLettersDismiss])
    add(deadLetters, context);
  const grants = root.command('grants').description('what is agreed to in advance');
  for (const add of [addGrantsGive, addGrantsList, addGrantsShow, addGrantsRevoke]) add(grants, context);
  for (const add of [addPause, addPauses, addResume, addReconcile]) add(root, context);
  const tools = root.command('tools').description('tool files and what an agent sees of them');
  addToolsList(tools, context);
  addToolsLint(tools, context);
  addToolsSchema(tools, context);
  addToolsCertify(tools, context);
  const rules = root.command('rules').description('policy files, and what they would decide');
  addRulesLint(rules, context);
  addRulesTest(rules, context);
  return root;
}

function explain(error: unknown, { err }: Context): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? done : wrongUsage;
  if (error instanceof WrongUsage) {
    err(`error: ${error.message}`);
    return wrongUsage;
  }
  if (error instanceof CommandFailed) {
    // A single one is what the message says already.
    const problems = (error.problems.length > 1 ? error.problems : []).map(
      ({ pointer, expected, got }) =>
        `  ${pointer || '/'}: expected ${expected}${got === undefined ? '' : `, got ${got}`}`,
    );
    const next = error.nextAction ? [`next: ${error.nextAction}`] : [];
    err([`error: ${error.message}`, ...problems, ...next].join('\n'));
    return failed;
  }
  err(`error: ${error instanceof Error ? error.message : String(error)}`);
  return failed;
}
