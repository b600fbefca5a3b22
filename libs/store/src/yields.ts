import { createHash } from 'node:crypto';
import { takenOut } from '@intendant/contracts';
import { type Intent, type Json, valuesAt } from '@intendant/intent';

/** An identifier in a result of a run. */
export interface Yield {
  readonly intentId: string;
  readonly runId: string;
  readonly digest: string;
  /** Tool and pointer, as tool files name them: `orders.get#/id`. */
  readonly source: string;
}

/** Most identifiers that are remembered of one result. */
const most = 1_000;

/** What is kept of an identifier; the number 7 and the text 7 are the same one, and what a sandbox names is not real. */
export function identifierDigest(value: string | number, sandbox: boolean): string {
  return createHash('sha256')
    .update(`${sandbox ? 'sandbox' : 'real'} ${value}`)
    .digest('base64url');
}

/** The identifiers that an intent has brought its run. */
export function yieldsOf(intent: Intent): Yield[] {
  const { intentId, runId, tool, terms, sandbox } = intent.proposal;
  if (intent.state !== 'committed' || !terms.yields) return [];
  const { data } = intent;
  return terms.yields
    .flatMap((pointer) =>
      valuesAt(data, pointer)
        .filter(isIdentifier)
        .map((value) => ({
          ...{ intentId, runId, source: `${tool}#${pointer}` },
          digest: identifierDigest(value, sandbox),
        })),
    )
    .slice(0, most);
}

/** Texts and numbers name things; nothing else does, nor what was taken out of a result. */
export function isIdentifier(value: Json): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && !value.includes(takenOut));
}
