import type { FastifyRequest } from 'fastify';

/** W3C Trace Context, version 00. */
const traceparentShape = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** What a service that answers over the bus needs of an agent's request: its credential and its trace. */
export function forwarded({ headers }: FastifyRequest): Record<string, string> {
  const { authorization = '', traceparent } = headers;
  return { Authorization: authorization, ...traceIn(traceparent) };
}

/** The trace, where it can be read. */
export function traceIn(traceparent: unknown): { traceparent?: string } {
  return typeof traceparent === 'string' && traceparentShape.test(traceparent) ? { traceparent } : {};
}
