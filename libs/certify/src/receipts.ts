import type { ToolDefinition } from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';

/** All receipts that were shown for one key. */
export class Receipts {
  /** First the identity, then who showed it first. */
  readonly #identities = new Map<string, string>();
  /** First the whole receipt, then who showed it first. */
  readonly #wholes = new Map<string, string>();
  readonly #own = new Set<string>();
  readonly #request: ReadonlySet<string>;

  constructor(
    private readonly tool: ToolDefinition,
    request: { readonly args: JsonObject; readonly key: string },
  ) {
    this.#request = new Set([...leaves(request.args), request.key]);
  }

  get identities(): readonly string[] {
    return [...this.#identities.keys()];
  }

  /** Values that were not in the request: only they can tell its effect from a second one of the same request. */
  get own(): ReadonlySet<string> {
    return this.#own;
  }

  /** Two receipts that cannot be about one effect, or null. */
  get contradiction(): string | null {
    return firstTwo(this.#identities);
  }

  /** Two receipts that may be about one effect or about two, or null. */
  get difference(): string | null {
    return firstTwo(this.#wholes);
  }

  show(receipt: Json, by: string): void {
    const identity = identityOf(this.tool, receipt);
    const whole = textOf(receipt);
    if (!this.#identities.has(identity)) this.#identities.set(identity, by);
    if (!this.#wholes.has(whole)) this.#wholes.set(whole, by);
    for (const leaf of leaves(receipt)) if (!this.#request.has(leaf)) this.#own.add(leaf);
  }
}

/**
 * What tells one effect from another in a receipt: the fields that the output schema requires, since others may differ
 * between two answers about one effect (times, flags); the whole receipt where none is required. Different texts are
 * two effects; equal ones need not be one, since a required field may only repeat an argument.
 */
export function identityOf(tool: ToolDefinition, receipt: Json): string {
  const required = tool.output?.['required'];
  const isObject = typeof receipt === 'object' && receipt !== null && !Array.isArray(receipt);
  if (!Array.isArray(required) || required.length === 0 || !isObject) return textOf(receipt);
  const names = required.map(String);
  return textOf(Object.fromEntries(names.map((name) => [name, (receipt as Record<string, Json>)[name] ?? null])));
}

function firstTwo(receipts: ReadonlyMap<string, string>): string | null {
  const [one, other] = [...receipts];
  return one && other ? `${one[1]} showed ${one[0]}, ${other[1]} showed ${other[0]}` : null;
}

function leaves(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.values(value as Record<string, Json>).flatMap(leaves);
}

function textOf(value: Json): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value as Record<string, Json>).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]));
}
