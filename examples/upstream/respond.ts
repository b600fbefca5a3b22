import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Behaviour } from './behaviour.js';
import type { JsonObject } from './json.js';

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the operation that carries the request out, where it is accepted only. */
  readonly operationId?: string;
}

const DONE_PAGE = '<!doctype html><title>Done</title><p>Your request is being processed.</p>';

/** 204 and 304 go out without the body, as they must (RFC 9110, 15.3.5 and 15.4.5). */
export function sendJson(response: ServerResponse, answer: Answer): void {
  if (answer.status === 204 || answer.status === 304) {
    response.writeHead(answer.status, answer.headers).end();
    return;
  }
  const body = Buffer.from(JSON.stringify(answer.body));
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...answer.headers,
  });
  response.end(body);
}

/** The page a redirected client ends up on: a 200 that says nothing about the request it came from. */
export function sendDonePage(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/html' }).end(DONE_PAGE);
}

export function problem(status: number, code: string, message: string): Answer {
  return { status, body: { error: { code, message } } };
}

/**
 * A reader on libuv that finds data and RST in one poll reports an orderly end instead of a reset, so the reset waits
 * until the data was read: for a while, and then for one more poll in case the reader is in this very process.
 */
function resetOnceRead(socket: Socket): void {
  setTimeout(() => setImmediate(() => socket.resetAndDestroy()), 20);
}

/** Answers as ordered, `answer` being the regular one. Does nothing when the other side is gone. */
export function respond(response: ServerResponse, answer: Answer, behaviour: Behaviour): void {
  const socket = response.socket;
  if (socket === null || socket.destroyed) return;
  const body = JSON.stringify(answer.body);
  const promise = `HTTP/1.1 ${answer.status} OK\r\nContent-Type: application/json\r\n`;
  const headers = { ...answer.headers, ...behaviour.headers };
  const then = behaviour.then ?? 'ok';
  switch (then) {
    case 'ok':
      sendJson(response, { ...answer, headers });
      return;
    case 'accepted':
      if (answer.operationId === undefined) sendJson(response, { ...answer, headers });
      else
        sendJson(response, {
          status: 202,
          body: { operation_id: answer.operationId, state: 'queued' },
          headers: { location: `/operations/${answer.operationId}`, ...headers },
        });
      return;
    case 'empty200':
      response.writeHead(200, { ...headers, 'content-length': 0 }).end();
      return;
    case 'redirect':
      response.writeHead(302, { location: '/pages/done', ...headers, 'content-length': 0 }).end();
      return;
    case 'redirect_same':
      response.writeHead(307, { location: response.req.url, ...headers, 'content-length': 0 }).end();
      return;
    case 'hang':
      return;
    case 'close':
      socket.end();
      return;
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'reset_after_status':
      socket.write(`${promise}Content-Length: ${body.length}\r\n\r\n{`, () => resetOnceRead(socket));
      return;
    case 'truncated':
      socket.end(`${promise}Content-Length: ${body.length + 64}\r\n\r\n${body}`);
      return;
    case 'cut':
      socket.end(`${promise}Connection: close\r\n\r\n{"id":`);
      return;
    case 'close_delimited':
      socket.end(`${promise}Connection: close\r\n\r\n${body}`);
      return;
    case 'garbage':
      socket.end('\u0000\u0001 this is not HTTP \u0002\r\n\r\n');
      return;
    default: {
      const status = Number(then.slice('status:'.length));
      sendJson(response, { ...problem(status, 'ordered', `ordered to answer ${status}`), headers });
    }
  }
}
