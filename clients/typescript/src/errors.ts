import type { ErrorObject, IntentResult, NextAction } from './wire.js';

/** A request that Intendant answered with an error: nothing was recorded by it. */
export class IntendantError extends Error {
  override readonly name: string = 'IntendantError';
  readonly code: string;
  readonly nextAction: NextAction;
  readonly retryable: boolean;

  constructor(
    /** HTTP status. */
    readonly status: number,
    readonly error: ErrorObject,
  ) {
    super(error.message);
    this.code = error.code;
    this.nextAction = error.nextAction;
    this.retryable = error.retryable;
  }
}

/**
 * It was not found out in time how a call ended. It may have had an effect and may yet have one. The runtime makes the
 * same call with the same `stepId` in the same run to go on waiting for it, and no other one instead; the message is for
 * a model, which cannot do that.
 */
export class NoOutcomeYet extends Error {
  override readonly name = 'NoOutcomeYet';
  readonly nextAction: NextAction = 'check_outcome';

  constructor(
    readonly tool: string,
    readonly stepId: string | null,
    /** How it stood when something answered last; null: nothing that knows of it has answered. */
    readonly result: IntentResult | null,
    options?: ErrorOptions,
  ) {
    const asked = result === null ? `Step ${stepId}` : `Intent ${result.intentId}`;
    super(
      `${result === null ? `${tool} got no answer` : `${tool} has no outcome yet`}: it may have happened or may still happen. Do not call it again. ${asked} can be asked about.`,
      options,
    );
  }
}
