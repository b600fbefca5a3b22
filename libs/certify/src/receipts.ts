import type { ToolDefinition } from '@intendant/contracts';
import type { Json } from '@intendant/intent';

/**
 * What tells one effect from another in a receipt: the fields that the output schema requires, since others may differ
 * between two answers about one effect (times, flags); the whole receipt where none is required. Equal text is equal.
 */
export function identityOf(tool: ToolDefinition, receipt: Json): string {
  const required = tool.output?.['required'];
  const isObject = typeof receipt === 'object' && receipt !== null && !Array.isArray(receipt);
  if (!Array.isArray(required) || required.length === 0 || !isObject) return JSON.stringify(sorted(receipt));
  const names = required.map(String).toSorted();
  const fields = names.map((name) => [name, sorted((receipt as Record<string, Json>)[name] ?? null)]);
  return JSON.stringify(Object.fromEntries(fields));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value as Record<string, Json>).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]));
}
