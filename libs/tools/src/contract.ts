import type { ToolDefinition } from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';
import { appendPointer } from './json-pointer.js';
import { canonical } from './key.js';
import { isObject } from './tool-source.js';

type Contracted = Pick<ToolDefinition, 'name' | 'version' | 'effect' | 'permission' | 'input' | 'output'>;

/** What callers rely on. The description may be improved at any time and is not part of it. */
export function contractOf({ name, version, effect, permission, input, output }: Contracted): JsonObject {
  return { name, version, effect, permission, input, output };
}

/** Places that are named; further ones are counted. */
const namedPlaces = 5;

/**
 * Compares a tool with the contract remembered under its name and version.
 *
 * @returns null when they are the same, else a sentence that names what changed and what to do.
 */
export function compareContract(
  tool: ToolDefinition,
  remembered: { readonly contract: JsonObject; readonly digest: string },
): string | null {
  if (tool.contractDigest === remembered.digest) return null;
  const places = [...changes(remembered.contract, tool.contract, '')];
  const named = places.slice(0, namedPlaces).join(', ') || 'its digest differs';
  const more = places.length > namedPlaces ? ` and ${places.length - namedPlaces} more` : '';
  return (
    `${tool.file}: the contract of ${tool.name} version ${tool.version} has changed since it was first loaded ` +
    `(${named}${more}); raise version, or undo the change`
  );
}

function* changes(before: Json, after: Json, pointer: string): Generator<string> {
  if (canonical(before) === canonical(after)) return;
  if (!isObject(before) || !isObject(after)) {
    yield `${pointer} changed`;
    return;
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name], after[name]];
    const here = appendPointer(pointer, name);
    if (old === undefined) yield `${here} added`;
    else if (now === undefined) yield `${here} removed`;
    else yield* changes(old, now, here);
  }
}
