import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Rule } from './behaviour.js';
import { Bench } from './bench.js';
import { control } from './control.js';
import { Desk } from './desk.js';
import { Ledger } from './ledger.js';
import type { EntryOf, LedgerEntry, LedgerMatch } from './ledger-entry.js';
import { readBody } from './read-body.js';
import { recordRequest } from './record-request.js';
import { findOrder, findResource } from './resources.js';
import { problem, sendDonePage, sendJson } from './respond.js';
import { RuleBook } from './rule-book.js';

export type { Behaviour, LookupFault, Rule, RuleMatch, Then } from './behaviour.js';
export type { LedgerEntry, LedgerMatch } from './ledger-entry.js';

export interface UpstreamOptions {
  /** 0 or left out: a free one. */
  readonly port?: number;
  /** Address to listen on; the loopback interface when left out. */
  readonly host?: string;
  /** JSON lines; created when missing, continued when not. Left out: the ledger lives in memory only. */
  readonly ledgerFile?: string;
}

/** A payment, mail and ticket service that misbehaves on order and writes down what really happened. */
export interface Upstream {
  readonly url: string;
  readonly port: number;
  ledger(): LedgerEntry[];
  /** Throws a TypeError when the rule has a mistake. */
  behave(rule: Rule): void;
  /** Forgets all rules. The ledger stays, and so do effects that are on their way. */
  reset(): void;
  /** Cuts all connections; effects that are on their way do not come any more. A second call changes nothing. */
  close(): Promise<void>;
  /** The effect that completes the count, old ones included; rejects after `timeoutMs`. */
  waitForEffect(match: LedgerMatch, timeoutMs: number): Promise<EntryOf<'effect'>>;
  /** The same for a request, which is in the ledger before anything is done about it. */
  waitForRequest(match: LedgerMatch, timeoutMs: number): Promise<EntryOf<'request'>>;
}

/** Listens on the loopback interface, or on `host`; rejects when the port is taken or the ledger file cannot be used. */
export async function startUpstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const ledger = new Ledger(options.ledgerFile);
  const rules = new RuleBook();
  const desk = new Desk(ledger, rules);
  const bench = new Bench();
  const behave = (rule: unknown) => rules.add(rule);
  const reset = () => {
    rules.clear();
    desk.reset();
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(`http://upstream${request.url}`);
    const path = url.pathname;
    const body = await readBody(request);
    if (body === null) return sendJson(response, problem(413, 'too_large', 'at most 1 MiB is taken'));
    if (path.startsWith('/__')) return control({ ledger, behave, reset }, response, url, body);
    const resource = findResource(path);
    const lookupKey = resource?.lookupBy == null ? null : url.searchParams.get(resource.lookupBy);
    if (lookupKey !== null && request.method === 'GET') return desk.lookup(response, path, lookupKey);
    if (request.method === 'GET' && desk.poll(response, path)) return;

    const line = recordRequest(ledger, request, path, body);
    if (resource !== undefined && request.method === 'POST') return desk.create(line, response, body, resource);
    if (path === '/refunds/preview' && request.method === 'GET') return desk.preview(line, response, url.searchParams);
    const order = findOrder(path);
    if (order !== undefined && request.method === 'GET') return desk.read(line, response, url.search, order);
    if (path === '/pages/done' && request.method === 'GET') return sendDonePage(response);
    sendJson(response, problem(404, 'not_found', `there is no ${request.method} ${path}`));
  };

  const server = createServer((request, response) => {
    if (bench.handle(request, response)) return;
    handle(request, response).catch((error: unknown) => {
      // The other side may be gone in the middle of its request; then there is nobody to tell.
      if (request.destroyed && !request.complete) return;
      sendJson(response, problem(500, 'internal', error instanceof Error ? error.message : String(error)));
    });
  });
  // Idle connections are never closed from this side: each broken connection in a test was ordered by the test.
  server.keepAliveTimeout = 0;

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      ledger.close();
      reject(error);
    });
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  const last = async <K extends 'effect' | 'request'>(kind: K, match: LedgerMatch, timeoutMs: number) => {
    const found = await ledger.wait(kind, match, timeoutMs);
    return found[(match.count ?? 1) - 1] as EntryOf<K>;
  };

  let closing: Promise<void> | undefined;
  const stop = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    desk.close();
    server.closeAllConnections();
    await closed;
    ledger.close();
  };

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    ledger: () => ledger.entries(),
    behave,
    reset,
    waitForEffect: (match, timeoutMs) => last('effect', match, timeoutMs),
    waitForRequest: (match, timeoutMs) => last('request', match, timeoutMs),
    close: () => {
      closing ??= stop();
      return closing;
    },
  };
}
