import { type Bus, BusUnavailable, errorHeader, NoResponder } from '@intendant/bus';
import { type ErrorCode, type ErrorObject, errorKinds, Refusal } from '@intendant/contracts';

export interface Question {
  readonly payload: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const decoder = new TextDecoder();
/** Said where a request got no answer. */
export const mayBeRecorded =
  'It is not known whether anything was recorded; sending it again unchanged, with its step if it has one, is safe.';

/**
 * Asks a service over the bus and returns its answer.
 *
 * @throws Refusal the one the service answered with; `unavailable` when no answer came, with `details.recorded` false where
 *   nobody has heard the question.
 */
export async function ask<T>(bus: Bus, subject: string, { payload, headers, timeoutMs }: Question): Promise<T> {
  const reply = await bus.request(subject, payload, { headers, timeoutMs }).catch((error: Error) => {
    throw unanswered(error);
  });
  const answer: unknown = JSON.parse(decoder.decode(reply.data));
  if (reply.headers.get(errorHeader) === undefined) return answer as T;
  const { code, message, details } = (answer as { error: ErrorObject }).error;
  throw new Refusal(isKnown(code) ? code : 'internal', message, details);
}

function unanswered(error: Error): Refusal {
  if (error instanceof NoResponder || error instanceof BusUnavailable) {
    const message = `No answer: ${error.message}. Nothing was recorded; the same call can be made again later.`;
    return new Refusal('unavailable', message, { recorded: false });
  }
  return new Refusal('unavailable', `No answer: ${error.message}. ${mayBeRecorded}`);
}

/** A newer service may know codes that this one does not. */
function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(errorKinds, code);
}
