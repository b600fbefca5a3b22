import type { ServerResponse } from 'node:http';
import { parseJson } from './json.js';
import type { Ledger } from './ledger.js';
import type { LedgerKind, LedgerMatch } from './ledger-entry.js';
import { problem, sendJson } from './respond.js';

export interface ControlPanel {
  readonly ledger: Ledger;
  behave(rule: unknown): void;
  reset(): void;
}

const KINDS: readonly string[] = ['request', 'effect', 'lookup', 'poll'] satisfies LedgerKind[];

/** The other side of the desk: for whoever stages the play, never for a tool. */
export async function control(panel: ControlPanel, response: ServerResponse, url: URL, body: Buffer): Promise<void> {
  switch (url.pathname) {
    case '/__control':
      try {
        panel.behave(parseJson(body));
      } catch (error) {
        return sendJson(response, problem(400, 'invalid_rule', error instanceof Error ? error.message : String(error)));
      }
      return sendJson(response, { status: 200, body: { ok: true } });
    case '/__reset':
      panel.reset();
      return sendJson(response, { status: 200, body: { ok: true } });
    case '/__ledger':
      return sendJson(response, { status: 200, body: { data: panel.ledger.entries() } });
    case '/__wait':
      return wait(panel.ledger, response, url.searchParams);
    default:
      return sendJson(response, problem(404, 'not_found', `there is no ${url.pathname}`));
  }
}

async function wait(ledger: Ledger, response: ServerResponse, query: URLSearchParams): Promise<void> {
  const kind = query.get('kind') ?? 'effect';
  const count = Number(query.get('count') ?? 1);
  const timeoutMs = Number(query.get('timeout') ?? 10_000);
  if (!KINDS.includes(kind)) return sendJson(response, problem(400, 'invalid_query', `kind: ${KINDS.join(', ')}`));
  if (!(count > 0) || !(timeoutMs >= 0)) {
    return sendJson(response, problem(400, 'invalid_query', 'count and timeout (ms): numbers are expected'));
  }
  const given = ['path', 'key', 'attemptId'].flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value]];
  });
  const match: LedgerMatch = { ...Object.fromEntries(given), count };
  try {
    const data = await ledger.wait(kind as LedgerKind, match, timeoutMs);
    sendJson(response, { status: 200, body: { data } });
  } catch (error) {
    sendJson(response, problem(504, 'timeout', error instanceof Error ? error.message : String(error)));
  }
}
