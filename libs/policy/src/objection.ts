import type { ErrorCode } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';

/** Why a call is not to happen. */
export interface Objection {
  /**
   * `deny`: it is recorded and remembered, and asking again under the same step gets the same answer. `refuse`: it is not
   * recorded, because the same step may be right later, or with other arguments.
   */
  readonly kind: 'deny' | 'refuse';
  readonly code: ErrorCode;
  /** Which rule objects, in a word or by its name. */
  readonly rule: string;
  readonly message: string;
  /** What the rule looked at. */
  readonly inputs: JsonObject;
  /** For operators alone. Left out: nothing. */
  readonly error?: string | null;
  /** What would make it allowed; null: nothing that the agent, or anybody in this run, can do. */
  readonly remedy: string | null;
}
