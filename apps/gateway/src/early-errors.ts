import { STATUS_CODES } from 'node:http';
import { errorObject } from '@intendant/contracts';
import type { ServiceOptions } from '@intendant/runtime';
import { type Problem, problemOf, problemType } from './problem.js';

/** What the HTTP server refuses before there is a request to route is a problem like everything else. */
export const earlyErrors: NonNullable<ServiceOptions['fastify']> = {
  frameworkErrors: (error, _request, reply) => {
    const problem = routing(error.code);
    const body = JSON.stringify(problem);
    const headers = { 'content-type': problemType, 'content-length': Buffer.byteLength(body) };
    reply.raw.writeHead(problem.status, headers).end(body);
  },
  clientErrorHandler: (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    if (socket.writable) socket.write(response(parsing(error.code)));
    socket.destroy(error);
  },
};

function routing(code: string): Problem {
  switch (code) {
    case 'FST_ERR_BAD_URL':
      return unreadable(400, 'The path cannot be read: its percent-encoding is not that of UTF-8 text.');
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return unreadable(414, 'A part of the path is too long to be an id.');
    default:
      return problemOf(errorObject('internal', 'The request failed inside Intendant.'));
  }
}

function parsing(code: string): Problem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return unreadable(408, 'The request did not arrive in time. Send it again.');
    case 'HPE_HEADER_OVERFLOW':
      return unreadable(431, 'The headers are too large.');
    default:
      return unreadable(400, 'The request is not HTTP/1.1 as this server can read it.');
  }
}

function unreadable(status: number, message: string): Problem {
  return problemOf(errorObject('invalid_message', message), status);
}

/** There is no response object for a request that could not be parsed, only its socket. */
function response(problem: Problem): string {
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `Content-Type: ${problemType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
