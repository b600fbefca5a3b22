import { UnsupportedMediaTypeException } from '@nestjs/common';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';

/** Largest body that is read, in bytes: the limit of a ToolIntent; everything else is far smaller. */
export const bodyLimit = 256 * 1024;

/** Marks routes that get the bytes as they came: whoever admits an intent has to judge what the caller really sent. */
export const rawBody = { rawBody: true } as const;

/** Marks routes that get a form, as it came: its sender has signed the bytes. */
export const rawForm = { rawForm: true } as const;

/** Marks routes that get the bytes as they came, whatever they are said to be: they refuse in a language of their own. */
export const bytesOfAnyType = { ...rawBody, ...rawForm } as const;

/** JSON is the only language of the API; there is no text, no guessing, and a form only from whoever speaks nothing else. */
export function parseBodies(adapter: FastifyAdapter): void {
  const fastify = adapter.getInstance();
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('text/plain');
  adapter.useBodyParser('application/json', false, { bodyLimit }, (request, body, done) => {
    if (isEncoded(request)) done(new UnsupportedMediaTypeException());
    else if (isRaw(request)) done(null, body);
    else if (body.length === 0) done(null, undefined);
    else parseJson(request, body.toString('utf8'), done);
  });
  adapter.useBodyParser('*', false, { bodyLimit }, (request, body, done) => {
    if ('rawForm' in request.routeOptions.config && !isEncoded(request)) done(null, body);
    else done(new UnsupportedMediaTypeException());
  });
}

/** Nothing is unpacked: a small body could become a large one. */
function isEncoded({ headers }: FastifyRequest): boolean {
  return (headers['content-encoding'] ?? 'identity') !== 'identity';
}

function isRaw(request: FastifyRequest): boolean {
  return 'rawBody' in request.routeOptions.config;
}
