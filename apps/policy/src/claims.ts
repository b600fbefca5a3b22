import type { ToolDefinition } from '@intendant/contracts';
import { type Json, type JsonObject, type Operation, valuesAt } from '@intendant/intent';
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
      fields.map((field) => plainAt(args, field)),
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
      similar.fields.map((field) => plainAt(args, field)),
    )
  );
}

/**
 * What a refusal of a call is remembered by: its business key, else the fields by which it looks like others, else all
 * arguments, however they are written. In its run, or in the whole tenant where the tool says so.
 */
export function gistOf(tool: ToolDefinition, place: Place & { readonly runId: string }, args: JsonObject): string {
  const { name, businessKey, similar, approval } = tool;
  const { tenant, sandbox, runId } = place;
  const fields = businessKey?.fields ?? similar?.fields ?? null;
  const values = fields === null ? [plainly(args)] : fields.map((field) => plainly(valuesAt(args, field)));
  const scope = approval.remember === 'run' ? [runId] : [];
  return sameness('gist', { tenant, sandbox, tool: name }, [...scope, ...values]);
}

/**
 * Without what changes the wording and not the meaning: case, white space, invisible characters, forms of letters, marks at
 * the end of a sentence, whether a number is written as text, and what says nothing.
 */
function plainly(value: Json): Json {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return plainText(value);
  if (value === null) return null;
  if (isList(value)) return value.map(plainly).filter(saysSomething);
  const said = Object.entries(value).map(([field, each]) => [field, plainly(each)] as const);
  return Object.fromEntries(said.filter(([, each]) => saysSomething(each)));
}

function plainText(text: string): string {
  const visible = text.normalize('NFKC').replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]+|(?!\s)\p{Cc}/gu, '');
  // Both ways, since some letters are one in upper case and two in lower case, or the other way round.
  const even = visible.toUpperCase().toLowerCase().normalize('NFKC');
  return even.replace(/[\s\u{2800}]+/gu, ' ').replace(/^ +|[ .!?,;:…。]+$/gu, '');
}

function saysSomething(value: Json): boolean {
  return value !== null && value !== '' && (typeof value !== 'object' || Object.keys(value).length > 0);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** The number 7 and the text 7 are the same: which of them it is, the caller chooses. */
function plainAt(args: JsonObject, field: string): Json[] {
  return valuesAt(args, field).map((value) => (typeof value === 'number' ? String(value) : value));
}

/** Values in the arguments that have to come from an earlier result; what can name nothing comes from none. */
export function identifiersOf({ identifiers }: ToolDefinition, args: JsonObject, sandbox: boolean): NamedIdentifier[] {
  return identifiers.flatMap(({ pointer, sources }) =>
    valuesAt(args, pointer)
      .filter((value) => value !== null)
      .map((value) => ({ pointer, sources, digest: isIdentifier(value) ? identifierDigest(value, sandbox) : '' })),
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
