/**
 * What a TypeScript module of tools is written with: `import { defineTool } from 'intendant/tool'`. It imports nothing,
 * so that a module can be checked and run anywhere.
 */

/** What can be recorded. Receipts are copied through JSON, so they must be nothing more. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Marks what the functions of this file made; by name, since a module may load its own copy of this file. */
const made: unique symbol = Symbol.for('intendant.tool');

interface Made<Sort extends string> {
  readonly [made]: Sort;
}

export interface ToolQuestion<Args> {
  /** The arguments, checked by the input schema, with the injected fields filled in. */
  readonly args: Args;
  /** The same for every attempt of the intent: hand it on as the idempotency key, or record it with the effect. */
  readonly key: string;
  readonly intentId: string;
  readonly tenant: string;
  readonly runId: string;
  /** Must not have any effect on the real thing. */
  readonly sandbox: boolean;
  /** The secret of the credential that the tool file names; null where it names none. */
  readonly credential: string | null;
}

export interface ToolCall<Args> extends ToolQuestion<Args> {
  /** Different for every attempt. */
  readonly attemptId: string;
}

export interface PollQuestion<Args> extends ToolQuestion<Args> {
  /** What `accepted(data)` was given. */
  readonly accepted: Json;
}

export interface ToolContext {
  /** Aborted when the call limit ends or the call is given up. Hand it to everything that waits. */
  readonly signal: AbortSignal;
}

export interface Refused extends Made<'not_executed'> {
  readonly reason: string;
  readonly transient: boolean;
  readonly retryAfterMs: number | null;
}
export interface Accepted extends Made<'accepted'> {
  readonly data: Json;
}
export interface Unknown extends Made<'unknown'> {
  readonly reason: string;
}

export interface Present<Receipt> extends Made<'present'> {
  readonly receipt: Receipt;
  readonly excess: number;
}
export interface Partly<Receipt> extends Made<'partial'> {
  readonly receipt: Receipt;
  readonly reason: string;
}
export type Absent = Made<'absent'>;
export interface CannotTell extends Made<'cannot_tell'> {
  readonly reason: string;
}

export interface Done<Receipt> extends Made<'done'> {
  readonly receipt: Receipt;
}
export interface Failed extends Made<'failed'> {
  readonly reason: string;
}
export interface Pending extends Made<'pending'> {
  readonly reason: string;
}

type Soon<Value> = Value | Promise<Value>;

export interface ToolFunctions<Args, Receipt> {
  /**
   * Does it, once. What it returns is the receipt, which must satisfy the output schema; whatever it throws, and an end
   * of the call limit, leaves the outcome unknown, with {@link NotExecuted} as the only exception.
   */
  readonly execute: (call: ToolCall<Args>, context: ToolContext) => Soon<Receipt | Refused | Accepted | Unknown>;
  /** Finds out whether the effect of a key is there. Whatever it throws counts as `cannotTell`. */
  readonly lookup?: (
    question: ToolQuestion<Args>,
    context: ToolContext,
  ) => Soon<Present<Receipt> | Partly<Receipt> | Absent | CannotTell>;
  /** Finds out what became of a request that `execute` answered with `accepted`. What it throws counts as `pending`. */
  readonly poll?: (question: PollQuestion<Args>, context: ToolContext) => Soon<Done<Receipt> | Failed | Pending>;
  /**
   * Looks at what `execute` would change, and changes nothing: nobody has agreed to it yet. What it returns is read by
   * `approval.preview` of the tool file; whatever it throws is shown as a preview that failed.
   */
  readonly preview?: (question: ToolQuestion<Args>, context: ToolContext) => Soon<Json>;
}

export type DefinedTool<Args, Receipt> = ToolFunctions<Args, Receipt> & Made<'tool'>;

/**
 * A tool as the default export of a module.
 *
 * @throws TypeError when something that must be a function is none
 */
export function defineTool<Args, Receipt>(tool: ToolFunctions<Args, Receipt>): DefinedTool<Args, Receipt> {
  for (const name of ['execute', 'lookup', 'poll', 'preview'] as const) {
    const given: unknown = tool[name];
    if (typeof given === 'function' || (name !== 'execute' && given === undefined)) continue;
    throw new TypeError(`defineTool: ${name} must be a function`);
  }
  return Object.freeze({ ...tool, [made]: 'tool' } as const);
}

export interface RefusalOptions {
  /** The same request may succeed later; false when left out. */
  readonly transient?: boolean;
  /** The earliest time at which it may, from now. */
  readonly retryAfterMs?: number;
}

/** Of `execute`: proof that nothing happened and nothing will. */
export function notExecuted(reason: string, { transient = false, retryAfterMs }: RefusalOptions = {}): Refused {
  return { [made]: 'not_executed', reason, transient, retryAfterMs: retryAfterMs ?? null };
}

/** For code from which it is easier to throw: says the same as {@link notExecuted}. */
export class NotExecuted extends Error implements Refused {
  override readonly name = 'NotExecuted';
  readonly [made] = 'not_executed';
  readonly transient: boolean;
  readonly retryAfterMs: number | null;

  constructor(
    readonly reason: string,
    { transient = false, retryAfterMs }: RefusalOptions = {},
  ) {
    super(reason);
    this.transient = transient;
    this.retryAfterMs = retryAfterMs ?? null;
  }
}

/** Of `execute`: it will happen. `poll`, which gets the data, must be able to say when. */
export function accepted(data: Json): Accepted {
  return { [made]: 'accepted', data };
}

/** Of `execute`: it may or may not have happened. */
export function unknown(reason: string): Unknown {
  return { [made]: 'unknown', reason };
}

/** Of `lookup`: it is there. `excess`: how many effects beyond the one that was asked for. */
export function present<Receipt>(receipt: Receipt, { excess = 0 }: { excess?: number } = {}): Present<Receipt> {
  return { [made]: 'present', receipt, excess };
}

/** Of `lookup`: some parts of it are there and others are not; the reason says how many. */
export function partial<Receipt>(receipt: Receipt, reason: string): Partly<Receipt> {
  return { [made]: 'partial', receipt, reason };
}

/** Of `lookup`: it is not there. An index that may be late, or a question that failed, is {@link cannotTell}. */
export function absent(): Absent {
  return { [made]: 'absent' };
}

export function cannotTell(reason: string): CannotTell {
  return { [made]: 'cannot_tell', reason };
}

/** Of `poll`: it happened. */
export function done<Receipt>(receipt: Receipt): Done<Receipt> {
  return { [made]: 'done', receipt };
}

/** Of `poll`: it was given up; nothing happened and nothing will. */
export function failed(reason: string): Failed {
  return { [made]: 'failed', reason };
}

/** Of `poll`: not yet. */
export function pending(reason = 'not done yet'): Pending {
  return { [made]: 'pending', reason };
}

/** What a function of a module, or its default export, made with the functions of this file; null for all else. */
export function sortOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !(made in value)) return null;
  return String(value[made]);
}
