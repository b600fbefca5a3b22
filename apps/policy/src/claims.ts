import type { ToolDefinition } from '@intendant/contracts';
import { type JsonObject, type Operation, valuesAt } from '@intendant/intent';
import type { NamedIdentifier, NamedRate } from '@intendant/policy';
import { identifierDigest, isIdentifier } from '@intendant/store';
import { sameness } from '@intendant/tools';

interface Place {
  readonly tenant: string;
  readonly sandbox: boolean;
}

/** The business operation that a call is; null where its tool names none. */
export function operationOf({ name, businessKey }: ToolDefinition, at: Place, args: JsonObject): Operation | null {
  if (businessKey === null) return null;
  const { fields, windowMs } = businessKey;
  return {
    digest: sameness(
      'operation',
      { ...at, tool: name },
      fields.map((field) => valuesAt(args, field)),
    ),
    windowMs,
  };
}

/** What a call looks like; null where its tool does not ask. */
export function likenessOf({ name, similar }: ToolDefinition, at: Place, args: JsonObject): string | null {
  return (
    similar &&
    sameness(
      'likeness',
      { ...at, tool: name },
      similar.fields.map((field) => valuesAt(args, field)),
    )
  );
}

/** Values in the arguments that have to come from an earlier result. */
export function identifiersOf({ identifiers }: ToolDefinition, args: JsonObject): NamedIdentifier[] {
  return identifiers.flatMap(({ pointer, sources }) =>
    valuesAt(args, pointer)
      .filter(isIdentifier)
      .map((value) => ({ pointer, sources, digest: identifierDigest(value) })),
  );
}

interface PerTime {
  readonly count: number;
  readonly perMs: number;
}

/** The buckets that a call takes from: its tool's, and its tenant's. */
export function ratesOf(tool: ToolDefinition, { tenant, sandbox }: Place, ofTenant: PerTime | null): NamedRate[] {
  const place = sandbox ? 'sandbox' : 'real';
  const rates: NamedRate[] = [];
  if (tool.limits.rate) {
    rates.push(bucket(`${place}:${tenant}:${tool.name}`, tool.limits.rate, `of ${tool.name}`));
  }
  if (ofTenant) rates.push(bucket(`${place}:${tenant}`, ofTenant, 'over all tools'));
  return rates;
}

function bucket(id: string, { count, perMs }: PerTime, what: string): NamedRate {
  return { id, perMs: count / perMs, capacity: count, title: `${count} calls in ${perMs / 1_000} s ${what}` };
}
