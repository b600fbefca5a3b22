import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson } from './respond.js';

const BODY = Buffer.from(JSON.stringify({ bench_id: 'bench', state: 'done', note: 'x'.repeat(150) }));
const HEADERS = { 'content-type': 'application/json', 'content-length': BODY.length };

/** An upstream that costs next to nothing, so that a benchmark measures the caller: it counts, and writes no ledger. */
export class Bench {
  #count = 0;

  /** True when the request was for it. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.url === '/bench' && request.method === 'POST') {
      request.resume().once('end', () => {
        this.#count += 1;
        response.writeHead(200, HEADERS).end(BODY);
      });
      return true;
    }
    if (request.url === '/bench/count' && request.method === 'GET') {
      sendJson(response, { status: 200, body: { count: this.#count } });
      return true;
    }
    return false;
  }
}
