import { takenOut } from '@intendant/contracts';
import type { Json } from '@intendant/intent';

/**
 * Takes hidden members out of a text, which may repeat an answer in part, within a sentence, or cut: a member of one of
 * these names wherever it is, and all from such a name on where the text cannot be read.
 *
 * @param names null: the text may hold nothing that could be shown
 */
export function withoutNamed(text: string, names: readonly string[] | null): string {
  if (names === null) return takenOut;
  if (names.length === 0) return text;
  const start = text.search(/[[{]/);
  if (start < 0) return cutAt(text, names);
  try {
    const data = JSON.parse(text.slice(start)) as Json;
    return cutAt(text.slice(0, start), names) + JSON.stringify(withoutMembers(data, new Set(names)));
  } catch {
    // No JSON, cut, or nested so deep that nothing goes through it.
    return cutAt(text, names);
  }
}

/** Before a name that a value follows, as in JSON, a query, a header, a tag or a sentence. */
function cutAt(text: string, names: readonly string[]): string {
  const any = names.map((name) => name.replace(/[^A-Za-z0-9]/g, String.raw`\$&`)).join('|');
  const at = text.search(new RegExp(`(?<![A-Za-z0-9_])(?:${any})(?:\\\\?["'\\]])*\\s*(?:[:=>]|must\\b)`, 'i'));
  return at < 0 ? text : `${text.slice(0, at)}${takenOut}`;
}

function withoutMembers(data: Json, names: ReadonlySet<string>): Json {
  if (data === null || typeof data !== 'object') return data;
  if (Array.isArray(data)) return data.map((item: Json) => withoutMembers(item, names));
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      names.has(name) ? takenOut : withoutMembers(value as Json, names),
    ]),
  );
}
