import { type ErrorObject, errorKinds } from '@intendant/contracts';

export const problemType = 'application/problem+json';

/** An error on HTTP: the members of RFC 9457, and the error object of every other surface. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly error: ErrorObject;
}

/** `status`: where HTTP has a more exact one than the error's code. */
export function problemOf(error: ErrorObject, status: number = errorKinds[error.code].http): Problem {
  return { ...problemMembers(error), status, error };
}

/** Type, title and detail alone, for bodies that carry more than the error. */
export function problemMembers({ code, message }: ErrorObject): Pick<Problem, 'type' | 'title' | 'detail'> {
  const words = code.replaceAll('_', ' ');
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  return { type: `urn:intendant:error:${code}`, title, detail: message };
}
