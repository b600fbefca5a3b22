import {
  type Budgets,
  expectedOfBudget,
  isBudgetCount,
  isLine,
  isProse,
  openRunLimits as limits,
  microsOf,
  parseDuration,
  Refusal,
  type Restriction,
  restrictedToolPattern,
} from '@intendant/contracts';
import { type Problem, Problems } from './problems.js';

/** What a trusted agent runtime wants of the run it opens. */
export interface Opening {
  readonly user: string;
  readonly permissions: readonly string[];
  readonly profile: 'interactive' | 'batch';
  readonly phase: string | null;
  readonly sandbox: boolean;
  /** Null: not said. */
  readonly ttlMs: number | null;
  /** Null: not said. */
  readonly budgets: Budgets;
  readonly restrictions: readonly Restriction[];
}

const duration = `a duration such as PT30M, 2h or 3600 (seconds), at most ${limits.longestMs / 3_600_000}h`;
const fields = ['user', 'permissions', 'profile', 'phase', 'ttl', 'sandbox', 'budgets', 'restrict'];
const budgetFields = ['calls', 'mutating', 'destructive', 'cost', 'wallClock'];

/** Reads a message of any shape; null counts as left out. @throws Refusal `invalid_message` naming everything that is wrong */
export function readOpening(message: unknown): Opening {
  const problems = new Problems();
  const { user, permissions, profile, phase, ttl, sandbox, budgets, restrict } = problems.object('', message, fields);
  problems.check(
    '/user',
    user,
    isLine(user, limits.userLength),
    `a line of text, 1 to ${limits.userLength} characters`,
  );
  const sound =
    Array.isArray(permissions) &&
    permissions.length <= limits.permissions &&
    permissions.every((each) => isLine(each, limits.permissionLength));
  const lines = `at most ${limits.permissions} lines of text, each 1 to ${limits.permissionLength} characters`;
  problems.check('/permissions', permissions, sound, `a list of ${lines}`);
  problems.check('/profile', profile, profile === 'interactive' || profile === 'batch', 'one of interactive, batch');
  const phaseFits = phase === null || isLine(phase, limits.phaseLength);
  problems.check('/phase', phase, phaseFits, `a line of text, 1 to ${limits.phaseLength} characters`);
  problems.check('/sandbox', sandbox, sandbox === null || typeof sandbox === 'boolean', 'true or false');
  const read = {
    ttlMs: readDuration('/ttl', ttl, problems),
    budgets: readBudgets(budgets, problems),
    restrictions: readRestrictions(restrict, problems),
  };
  if (problems.all.length > 0) throw refusal(problems.all);
  return {
    user: user as string,
    permissions: permissions as string[],
    profile: profile as Opening['profile'],
    phase: phase as string | null,
    sandbox: sandbox === true,
    ...read,
  };
}

function readBudgets(value: unknown, problems: Problems): Budgets {
  const given = value === null ? {} : value;
  const { calls, mutating, destructive, cost, wallClock } = problems.object('/budgets', given, budgetFields);
  for (const [name, count] of Object.entries({ calls, mutating, destructive })) {
    problems.check(`/budgets/${name}`, count, count === null || isBudgetCount(count), expectedOfBudget.count);
  }
  problems.check('/budgets/cost', cost, cost === null || microsOf(cost) !== null, expectedOfBudget.cost);
  return {
    calls: calls as number | null,
    mutating: mutating as number | null,
    destructive: destructive as number | null,
    costMicros: microsOf(cost),
    wallClockMs: readDuration('/budgets/wallClock', wallClock, problems),
  };
}

function readDuration(pointer: string, value: unknown, problems: Problems): number | null {
  const ms = typeof value === 'string' ? parseDuration(value) : null;
  const fits = value === null || (ms !== null && ms >= 1_000 && ms <= limits.longestMs);
  problems.check(pointer, value, fits, duration);
  return ms;
}

function readRestrictions(value: unknown, problems: Problems): Restriction[] {
  const list = value ?? [];
  const few = Array.isArray(list) && list.length <= limits.restrictions;
  problems.check('/restrict', value, few, `a list of at most ${limits.restrictions} restrictions`);
  return (few ? list : []).map((each: unknown, at) => {
    const pointer = `/restrict/${at}`;
    const { tools, allow, message } = problems.object(pointer, each, ['tools', 'allow', 'message']);
    const named =
      Array.isArray(tools) &&
      tools.length > 0 &&
      tools.length <= limits.toolsOfRestriction &&
      tools.every((tool) => typeof tool === 'string' && restrictedToolPattern.test(tool));
    const names = `1 to ${limits.toolsOfRestriction} names of tools, or namespaces such as payments.*`;
    problems.check(`${pointer}/tools`, tools, named, `a list of ${names}`);
    const text = (length: number) => `text, 1 to ${length} characters`;
    problems.check(`${pointer}/allow`, allow, isProse(allow, limits.allowLength), text(limits.allowLength));
    problems.check(`${pointer}/message`, message, isProse(message, limits.messageLength), text(limits.messageLength));
    return { tools, allow, message } as Restriction;
  });
}

function refusal(problems: readonly Problem[]): Refusal {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const where = first?.pointer || 'The message';
  return new Refusal(
    'invalid_message',
    `${where}: expected ${first?.expected}, got ${first?.got}${more}. No run was opened.`,
    {
      problems: problems.slice(0, 100).map((problem) => ({ ...problem })),
    },
  );
}
