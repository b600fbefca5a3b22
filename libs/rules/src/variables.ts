import { Bindings, Double, type Expression, type Variables } from '@intendant/cel';
import type { Session, ToolDefinition } from '@intendant/contracts';
import type { Effect, JsonObject } from '@intendant/intent';
import { nearest } from '@intendant/tools';

/** An earlier call of the run. */
export interface PastCall {
  readonly tool: string;
  readonly effect: Effect;
  /** State of the intent, such as `committed` or `unknown`. */
  readonly state: string;
  /** After trusted fields were dropped. */
  readonly args: JsonObject;
  /** In units. */
  readonly cost: number;
  readonly ageSeconds: number;
}

/** What a run has done so far, the call that is judged not included. */
export interface RunFacts {
  readonly ageSeconds: number;
  /** It has read text that others wrote. */
  readonly tainted: boolean;
  readonly calls: number;
  readonly mutating: number;
  readonly destructive: number;
  /** In units. */
  readonly cost: number;
  /** What happened or may have, or still may; newest first. */
  readonly history: readonly PastCall[];
  /** What was denied, newest first. */
  readonly denied: readonly PastCall[];
}

/** What a call is judged by: everything is loaded before, nothing is looked up in here. */
export interface Facts {
  readonly session: Pick<Session, 'tenant' | 'user' | 'profile' | 'phase' | 'permissions'>;
  readonly tool: Pick<ToolDefinition, 'name' | 'version' | 'effect' | 'permission' | 'reversible'>;
  /** After trusted fields were dropped. */
  readonly args: JsonObject;
  /** The call goes to the sandbox of its tool. */
  readonly sandbox: boolean;
  /** Of the call, in units. */
  readonly cost: number;
  /** What is not there was not loaded: a rule that looks at it fails, and the call is denied. */
  readonly run: Partial<RunFacts> | null;
}

/** What a restriction may look at. */
export const restrictionVariables = {
  args: null,
  session: ['tenant', 'user', 'profile', 'phase', 'permissions', 'sandbox'],
  tool: ['name', 'namespace', 'version', 'effect', 'permission', 'reversible'],
} as const satisfies Variables;

/** What a rule may look at. */
export const ruleVariables = {
  ...restrictionVariables,
  cost: [],
  run: ['ageSeconds', 'tainted', 'calls', 'mutating', 'destructive', 'cost', 'history', 'denied'],
} as const satisfies Variables;

/** Whether it looks at what the run has done: all of `run` but its taint, which is known with every call. */
export function readsPast({ reads }: Expression): boolean {
  return reads.some(([variable, field]) => variable === 'run' && field !== 'tainted');
}

/** The facts under the names that expressions know them by. */
export function bindingsOf({ session, tool, args, sandbox, cost, run }: Facts): Bindings {
  const { tenant, user, profile, phase, permissions } = session;
  const { name, version, effect, permission, reversible } = tool;
  return new Bindings({
    args,
    session: { tenant, user, profile, phase: phase ?? '', permissions, sandbox },
    tool: {
      ...{ name, namespace: name.slice(0, name.lastIndexOf('.')), version, effect, permission },
      ...(reversible === null ? {} : { reversible }),
    },
    cost: new Double(cost),
    ...(run && { run: boundRun(run) }),
  });
}

function boundRun({ cost, history, denied, ...counts }: Partial<RunFacts>) {
  return {
    ...counts,
    ...(cost !== undefined && { cost: new Double(cost) }),
    ...(history && { history: history.map(bound) }),
    ...(denied && { denied: denied.map(bound) }),
  };
}

function bound(past: PastCall) {
  return { ...past, cost: new Double(past.cost) };
}

/** Fields that have one of few values. */
const closed: Readonly<Record<string, readonly string[]>> = {
  'tool.effect': ['read', 'write', 'destructive'],
  'session.profile': ['interactive', 'batch'],
};

/** Why a condition can never be what was meant; null: nothing speaks against it. */
export function neverRight({ answers, comparisons }: Pick<Expression, 'answers' | 'comparisons'>): string | null {
  if (answers === 'other') return 'is neither true nor false, whatever it is asked about; must be a condition';
  for (const { path, text } of comparisons) {
    const values = closed[path.join('.')];
    if (values && !values.includes(text)) {
      const near = nearest(text, values);
      const right = near ? `did you mean ${near}?` : `must be one of ${values.join(', ')}`;
      return `compares ${path.join('.')} with ${JSON.stringify(text)}, which it never is; ${right}`;
    }
  }
  return null;
}
