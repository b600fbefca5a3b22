import type { FastifyReply, FastifyRequest } from 'fastify';

const longestWaitSeconds = 30;

/**
 * Seconds that the caller is ready to wait for an outcome, from `Prefer: wait=N` (RFC 7240), 30 at most; 0 when there
 * is no such preference or it cannot be read, as the RFC asks. What is honoured is said in `Preference-Applied`.
 */
export function preferredWait(request: FastifyRequest, reply: FastifyReply): number {
  const wait = askedWait(request);
  if (wait !== null) reply.header('Preference-Applied', `wait=${wait}`);
  return wait ?? 0;
}

/** As {@link preferredWait}; null when there is no such preference. */
export function askedWait(request: FastifyRequest): number | null {
  const header = [request.headers['prefer'] ?? []].flat().join(',');
  const [, seconds] = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?=$|[,;])/i.exec(header) ?? [];
  return seconds === undefined ? null : Math.min(Number(seconds), longestWaitSeconds);
}
