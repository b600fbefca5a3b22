import { expectedOfBudget, largestBudget, microsOf, openRunLimits, parseDuration } from '@intendant/contracts';
import { type Command, InvalidArgumentError } from 'commander';
import { wholeNumber } from './whole-number.js';

export interface BudgetOptions {
  readonly calls?: string;
  readonly mutating?: string;
  readonly destructive?: string;
  readonly cost?: string;
  readonly wallClock?: string;
}

export function addBudgetOptions(command: Command): Command {
  const count = wholeNumber(0, largestBudget);
  return command
    .option('--calls <n>', 'requests to upstreams, repeated ones counted each time', count)
    .option('--mutating <n>', 'intents of tools that write or destroy', count)
    .option('--destructive <n>', 'of these, those that destroy', count)
    .option('--cost <units>', 'sum of what its calls cost', units)
    .option('--wall-clock <duration>', 'how long it may go on proposing: PT30M, 2h or seconds', wallClock);
}

/** As the gateway reads them; undefined where none was given. */
export function budgetsOf({ calls, mutating, destructive, cost, wallClock }: BudgetOptions): object | undefined {
  const numbers = Object.entries({ calls, mutating, destructive, cost }).filter(([, text]) => text !== undefined);
  const given = {
    ...Object.fromEntries(numbers.map(([name, text]) => [name, Number(text)])),
    ...(wallClock && { wallClock }),
  };
  return Object.keys(given).length === 0 ? undefined : given;
}

/** Reads an option that is a cost; anything else is wrong usage. */
export function units(text: string): string {
  if (/^\d+(\.\d+)?$/.test(text) && microsOf(Number(text)) !== null) return text;
  throw new InvalidArgumentError(`It has to be ${expectedOfBudget.cost}.`);
}

function wallClock(text: string): string {
  const ms = parseDuration(text);
  if (ms !== null && ms >= 1_000 && ms <= openRunLimits.longestMs) return text;
  throw new InvalidArgumentError(
    `It has to be a duration such as PT30M, 2h or 3600 (seconds), at most ${openRunLimits.longestMs / 3_600_000}h.`,
  );
}
