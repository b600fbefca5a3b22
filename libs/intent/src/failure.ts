import type { Failure } from './events.js';
import type { Intent } from './state.js';

/** Statuses that say "not now" rather than "not this": rate limits, and proxies that did not reach the origin. */
const tooBusy = /^http_(429|503|52[1-6]|530)$/;

/** The sentence of an intent that was cancelled when it may have been sent, and about which nothing was found. */
export function cancelledFailure(intent: Intent): Failure {
  const { tool } = intent.proposal;
  return {
    code: 'cancelled',
    message: `${tool} was cancelled by ${intent.cancelledBy} while it was under way. It is established that nothing happened, and nothing will be sent.`,
    details: { attempts: intent.attempts.length },
  };
}

/** The sentence an agent reads when nothing happened; `cause` is that of the last attempt's verdict. */
export function failureOf(cause: string, detail: string, intent: Intent): Failure {
  const { tool, terms } = intent.proposal;
  const details = { cause, attempts: intent.attempts.length };
  if (cause === 'output_invalid') {
    return {
      code: 'output_invalid',
      message: `${tool} answered, but not in the shape it declares: ${detail}. Nothing was changed. Tell the tool's owner.`,
      details,
    };
  }
  if (cause === 'request_mapping') {
    return {
      code: 'upstream_rejected',
      message: `The request of ${tool} could not be built from the arguments: ${detail}. Nothing was sent and nothing happened. Correct the arguments under a new step, or tell the tool's owner.`,
      details,
    };
  }
  if (cause === 'operation_failed') {
    return {
      code: 'upstream_rejected',
      message: `${tool} was accepted by its upstream and failed there later: ${detail}. Nothing happened.`,
      details,
    };
  }
  if (cause === 'egress_refused' || cause === 'credential_unavailable' || cause === 'no_sandbox') {
    return {
      code: 'upstream_unavailable',
      message: `${tool} could not be sent from here (${cause}): ${detail}. Nothing happened. Tell the tool's owner.`,
      details,
    };
  }
  if (/^http_\d+$/.test(cause) && !tooBusy.test(cause)) {
    return {
      code: 'upstream_rejected',
      message: `${tool} was refused by its upstream (${cause}): ${detail}. Nothing happened.`,
      details,
    };
  }
  if (terms.effect === 'read' && (/timeout/.test(cause) || cause === 'answered_later')) {
    return {
      code: 'tool_timeout',
      message: `${tool} did not answer in time. Reading changes nothing; try again later.`,
      details,
    };
  }
  return {
    code: 'upstream_unavailable',
    message: `The upstream of ${tool} could not be reached or was too busy (${cause}). Nothing happened and nothing will be sent later; try again later under a new step.`,
    details,
  };
}
