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
 * The caller's time was over, or it gave up, before there was an outcome. The call may have had an effect and may yet
 * have one: make the same call with the same `stepId` to go on waiting for it, and no other one instead.
 */
export class NoOutcomeYet extends Error {
  override readonly name = 'NoOutcomeYet';
  readonly nextAction: NextAction = 'check_outcome';

  constructor(
    readonly stepId: string,
    /** How it stood when something answered last; null: nothing that knows of it has answered. */
    readonly result: IntentResult | null,
    options?: ErrorOptions,
  ) {
    super(
      result === null
        ? `Step ${stepId} got no answer. Whether it was taken is not known; calling it again as the same step is safe, and only that.`
        : `${result.tool} (intent ${result.intentId}, step ${stepId}) has no outcome yet: ${result.error?.message ?? result.summary ?? result.status}`,
      options,
    );
  }
}
