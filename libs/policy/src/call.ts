import type { Permit, Session, ToolDefinition } from '@intendant/contracts';
import type { Holdings, Json } from '@intendant/intent';

/** What an agent proposes, as far as the rules of admission look at it. */
export interface Call {
  readonly session: Session;
  readonly tool: ToolDefinition;
  /** Whether the caller's permissions and the phase of the run allow the tool, and why not. */
  readonly permitted: Permit;
  /** What it takes of the budgets of its run. */
  readonly takes: Holdings;
  /** Digest of the arguments. */
  readonly fingerprint: string;
  readonly sandbox: boolean;
  /** What a refusal of it would be remembered by; null: no other call of the run that waits for people has to be unlike it. */
  readonly gist: string | null;
  /** Arguments that have to come from an earlier result. */
  readonly identifiers: readonly NamedIdentifier[];
  /** Id of the intent by which the run has read text from outside; null: it has not. */
  readonly taintedBy: string | null;
  readonly rates: readonly NamedRate[];
  /** What the written rules say, by what they know of the run; null before anything is known of it. */
  readonly written: Written;
}

/** A value in the arguments, and results of which tools may have brought it. */
export interface NamedIdentifier {
  /** JSON Pointer into the arguments. */
  readonly pointer: string;
  readonly digest: string;
  readonly sources: readonly string[];
}

export interface NamedRate {
  readonly id: string;
  readonly perMs: number;
  readonly capacity: number;
  /** For people: `10/s of payments.refund.create`. */
  readonly title: string;
}

/** The verdict of rules that people have written down. */
export interface Written {
  readonly kind: 'allow' | 'deny' | 'require_approval';
  /** Null: no rule said anything. */
  readonly rule: string | null;
  /** For the agent. */
  readonly message: string;
  /** What the rule looked at. */
  readonly inputs: Readonly<Record<string, Json>>;
  /** For operators alone: why it could not be evaluated, which may repeat an argument; null: it could. */
  readonly error: string | null;
  /** What would be within bounds. Left out: nobody has said. */
  readonly bounds?: string;
}
