import { createHash } from 'node:crypto';

/** What clients and the upstream's ledger call arguments by: SHA-256, in hex, of their JSON with the fields in order. */
export function argsHash(args: Readonly<Record<string, unknown>>): string {
  const sorted = Object.fromEntries(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}
