import type { Failure } from './events.js';
import type { Intent } from './state.js';

/** What keeps a request from leaving until somebody changes the tool file or this installation. */
const setUp: ReadonlySet<string> = new Set(['egress_refused', 'no_sandbox', 'tls_failed']);

/** The sentence of an intent that was cancelled when it may have been sent, and about which nothing was found. */
export function cancelledFailure(intent: Intent): Failure {
  const { tool } = intent.proposal;
  return {
    code: 'cancelled',
    message: `${tool} was cancelled by ${intent.cancelledBy} while it was under way. It is established that nothing happened, and nothing will be sent.`,
    details: { attempts: intent.attempts.length },
  };
}

/**
 * The sentence an agent reads when nothing happened; `cause` and `transient` are those of the last attempt's verdict. Only
 * what may pass by itself is called unavailable: an agent takes that for an invitation to try again.
 */
export function failureOf(cause: string, detail: string, transient: boolean, intent: Intent): Failure {
  const { tool, terms, stepId } = intent.proposal;
  // A step stays answered; a call without one is made again as it is.
  const anew = stepId === null ? '' : ' under a new step';
  const details = { cause, attempts: intent.attempts.length };
  if (cause === 'output_invalid') {
    return {
      code: 'output_invalid',
      message: `${tool} answered, but not in the shape it declares: ${detail}. It only reads, so nothing was changed. Tell the tool's owner.`,
      details,
    };
  }
  if (cause === 'request_mapping') {
    return {
      code: 'upstream_rejected',
      message: `The request of ${tool} could not be built from the arguments: ${detail}. Nothing was sent and nothing happened. Correct the arguments${anew}, or tell the tool's owner.`,
      details,
    };
  }
  if (cause === 'state_changed') {
    return {
      code: 'upstream_rejected',
      message: `${tool} was not done: what a person has agreed to change is not what is there any more. Nothing happened. If it is still wanted, read how it stands now and propose it${anew || ' again'}; a person will be asked again.`,
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
  if (setUp.has(cause)) {
    return {
      code: 'upstream_rejected',
      message: `${tool} cannot be sent from here (${cause}): ${detail}. Nothing happened. Do not try again; tell the tool's owner.`,
      details,
    };
  }
  if (!transient) {
    return {
      code: 'upstream_rejected',
      message: `${tool} was refused by its upstream (${cause}): ${detail}. Nothing happened.`,
      details,
    };
  }
  if (terms.effect === 'read' && (/timeout/.test(cause) || cause === 'answered_later')) {
    return {
      code: 'tool_timeout',
      message: `${tool} did not answer in time. Reading changes nothing; try again later${anew}.`,
      details,
    };
  }
  return {
    code: 'upstream_unavailable',
    message: `The upstream of ${tool} could not be reached or was too busy (${cause}). Nothing happened and nothing will be sent later; try again later${anew}.`,
    details,
  };
}
