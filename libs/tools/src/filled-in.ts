import type { FilledIn } from '@intendant/contracts';
import type { ToolSource, Variable } from './tool-source.js';

/** Fields of an upstream, its questions and its sandbox that go out with requests or say where they go. */
const sent = new Set([
  ...['headers', 'path', 'body', 'arguments', 'command', 'argv', 'env', 'input'],
  ...['baseUrl', 'url'],
]);

/**
 * What variables filled into requests, and by which names it goes. An address as a whole is no secret; what may be one in
 * it is its password and its query.
 */
export function readFilledIn(source: ToolSource): FilledIn[] {
  const names = new Map<string, Set<string>>();
  for (const { value, names: more } of source.variables.flatMap(inRequests)) {
    const known = names.get(value) ?? new Set();
    for (const name of more) known.add(name);
    names.set(value, known);
  }
  return [...names].map(([value, known]) => ({ value, names: [...known] }));
}

function inRequests({ path, name, value, at, text }: Variable): FilledIn[] {
  // Those of a preview are one step deeper: approval.preview.request.headers, upstream.http.headers.
  const [field = '', inner] = path.slice(path[0] === 'upstream' ? 2 : 3);
  if (!sent.has(field)) return [];
  const names = inner !== undefined && (field === 'headers' || field === 'env') ? [name, inner] : [name];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value) && URL.canParse(value)) return inAddress(new URL(value), names);
  const isPlace = (field === 'baseUrl' || field === 'url') && at < endOfAuthority(text);
  return isPlace ? [] : [{ value: value.trim(), names }];
}

function inAddress({ username, password, searchParams }: URL, names: readonly string[]): FilledIn[] {
  const user = password === '' ? username : password;
  return [
    ...(user === '' ? [] : [{ value: decoded(user), names: ['password'] }]),
    ...[...searchParams].map(([name, value]) => ({ value, names: [...names, name] })),
  ];
}

/** Where the path of a URL begins. */
function endOfAuthority(url: string): number {
  return /^[^:/?#]*:\/\/[^/?#]*/.exec(url)?.[0].length ?? 0;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
