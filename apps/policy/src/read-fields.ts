import { Refusal } from '@intendant/contracts';

const decoder = new TextDecoder();

/** Text fields of a small JSON object; an empty message has none. @throws Refusal `invalid_message` naming what is wrong */
export function readFields<K extends string>(payload: Uint8Array, names: readonly K[]): Partial<Record<K, string>> {
  const text = decoder.decode(payload);
  const value = text === '' ? {} : parseText(text);
  const wrong = names.filter((name) => value[name] !== undefined && typeof value[name] !== 'string');
  if (wrong.length > 0) throw new Refusal('invalid_message', `${wrong.join(', ')}: expected text.`);
  return value as Partial<Record<K, string>>;
}

/** Any JSON object. @throws Refusal `invalid_message` for anything else */
export function parseObject(payload: Uint8Array): Record<string, unknown> {
  return parseText(decoder.decode(payload));
}

function parseText(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Told below, like any other value that is no object.
  }
  throw new Refusal('invalid_message', 'The message is not a JSON object.');
}
