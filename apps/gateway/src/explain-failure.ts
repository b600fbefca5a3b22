import { type ErrorObject, errorKinds, errorObject, Refusal } from '@intendant/contracts';
import { HttpException } from '@nestjs/common';
import { mayBeRecorded } from './ask.js';
import { bodyLimit } from './body-parsers.js';

/** Any failure of a request, as the caller is told; null for one that nobody expected and that needs a log line. */
export function explainFailure(failure: unknown, request: { method: string; url: string }): ErrorObject | null {
  if (failure instanceof Refusal) return failure.error;
  if (failure instanceof HttpException) return explainHttp(failure, request);
  return isAway(failure)
    ? errorObject('unavailable', `The database or the bus did not answer. ${mayBeRecorded}`)
    : null;
}

/** The status of what fails: that of its code, or what HTTP says more exactly. */
export function statusOf(failure: unknown, { code }: ErrorObject): number {
  const exact = failure instanceof HttpException ? failure.getStatus() : null;
  return exact === 413 || exact === 415 ? exact : errorKinds[code].http;
}

/** What the HTTP server itself refuses, before a controller is reached. */
function explainHttp(failure: HttpException, { method, url }: { method: string; url: string }): ErrorObject | null {
  const path = url.split('?')[0]?.slice(0, 200);
  switch (failure.getStatus()) {
    case 404:
      return errorObject('not_found', `There is no ${method} ${path}. /openapi.json lists what there is.`);
    case 413:
      return errorObject('invalid_message', `The body is too large: ${bodyLimit} bytes at most.`, { limit: bodyLimit });
    case 415:
      return errorObject(
        'invalid_message',
        'The content type has to be application/json, without a content encoding.',
        {
          expected: 'application/json',
        },
      );
    case 400:
      return errorObject('invalid_message', `The request cannot be read: ${failure.message}`);
    default:
      return failure.getStatus() < 500 ? errorObject('invalid_message', failure.message) : null;
  }
}

const awayNames = new Set(['StoreUnavailable', 'BusUnavailable', 'NoResponder', 'RequestTimeout']);
function isAway(failure: unknown): boolean {
  return failure instanceof Error && awayNames.has(failure.name);
}
