import { type Bus, errorHeader } from '@intendant/bus';
import { type ErrorCode, type ErrorObject, errorKinds, Refusal } from '@intendant/contracts';

export interface Question {
  readonly payload: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const decoder = new TextDecoder();

/**
 * Asks a service over the bus and returns its answer.
 *
 * @throws Refusal the one the service answered with; `unavailable` when no answer came.
 */
export async function ask<T>(bus: Bus, subject: string, { payload, headers, timeoutMs }: Question): Promise<T> {
  const reply = await bus.request(subject, payload, { headers, timeoutMs }).catch((error: Error) => {
    throw new Refusal(
      'unavailable',
      `No answer: ${error.message}. Nothing was recorded, or it is not known whether it was; sending it again with the same step is safe.`,
    );
  });
  const answer: unknown = JSON.parse(decoder.decode(reply.data));
  if (reply.headers.get(errorHeader) === undefined) return answer as T;
  const { code, message, details } = (answer as { error: ErrorObject }).error;
  throw new Refusal(isKnown(code) ? code : 'internal', message, details);
}

/** A newer service may know codes that this one does not. */
function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(errorKinds, code);
}
