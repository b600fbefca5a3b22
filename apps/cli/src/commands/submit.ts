import type { IntentResult } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { WrongUsage } from '../errors.js';
import { showResult } from '../show-result.js';
import { wholeNumber } from '../whole-number.js';

interface Options extends Flags {
  readonly step?: string;
  readonly sandbox?: boolean;
  readonly wait: string;
  readonly json?: boolean;
}

export function addSubmit(parent: Command, context: Context): void {
  parent
    .command('submit')
    .description('propose one call of one tool')
    .argument('<tool>', 'name of the tool')
    .argument('[args]', 'its arguments as JSON; - reads them from standard input', '{}')
    .option('--step <id>', 'step of the agent runtime: the same step again is the same call')
    .option('--sandbox', "send it to the tool's sandbox")
    .option('--wait <seconds>', 'how long to wait for an outcome, 30 at most', wholeNumber(0, 30), '10')
    .option('--json', 'print JSON')
    .action(async (tool: string, given: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const args = given === '-' ? await context.input() : given;
      const settings = new Settings(context, options);
      const result = await call<IntentResult>(settings, settings.token, 'POST', '/v1/intents', {
        body: messageOf(tool, args, options),
        headers: { prefer: `wait=${options.wait}` },
      });
      showResult(context, result, options.json);
    });
}

/** The arguments go out as they were written: parsing them here could lose digits of a number. */
function messageOf(tool: string, args: string, { step, sandbox }: Options): string {
  try {
    JSON.parse(args);
  } catch (error) {
    throw new WrongUsage(`the arguments are not JSON: ${(error as Error).message}`);
  }
  const stepId = step === undefined ? '' : `,"stepId":${JSON.stringify(step)}`;
  return `{"tool":${JSON.stringify(tool)},"args":${args}${stepId}${sandbox ? ',"sandbox":true' : ''}}`;
}
