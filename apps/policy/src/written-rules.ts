import type { Facts, Restriction, Session, ToolDefinition } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import type { Written } from '@intendant/policy';

/** A call, as the written rules look at it. */
export interface Question {
  readonly session: Session;
  readonly tool: ToolDefinition;
  readonly args: JsonObject;
  /** It goes to the sandbox of its tool. */
  readonly sandbox: boolean;
  /** Millionths of a unit. */
  readonly cost: number;
  /** Name of the key that opened the run. */
  readonly openedBy: string;
  /** What the opener of the run demands of its calls. */
  readonly restrictions: readonly Restriction[];
  /** Id of the intent by which the run has read text from outside; null: it has not. */
  readonly taintedBy: string | null;
  /** Null: nothing else is known of the run yet. */
  readonly facts: Facts | null;
}

/** What people have written down: the policy files of an installation, and the expressions in its tool files. */
export interface WrittenRules {
  /** Changes with what they say. */
  readonly version: string;
  /** What a call costs, in millionths of a unit, or why nobody can say. */
  costOf(
    tool: ToolDefinition,
    args: JsonObject,
  ): { readonly ok: true; readonly micros: number } | { readonly ok: false; readonly error: string };
  /** How often a tenant may call, whatever the tool; null: as often as it likes. */
  rateOf(tenant: string): { readonly count: number; readonly perMs: number } | null;
  /** Whether what they say of this tool depends on what the run has done. */
  needRun(tenant: string, tool: ToolDefinition): boolean;
  judge(question: Question): Written;
  /** Whether a condition over `args`, `session` and `tool` is true of a call; one that cannot be evaluated is not. */
  allows(condition: string, question: Question): boolean;
}
