import {
  type CelInput,
  type CelMap,
  type CelValue,
  celList,
  celMap,
  isCelList,
  isCelMap,
  isCelUint,
} from '@bufbuild/cel';
import { charge } from './work.js';

/** A number that is a double even where it is whole, so that dividing it by an integer keeps the fraction. */
export class Double {
  constructor(readonly value: number) {}
}

/**
 * JSON as CEL sees it. A number that is a safe integer is an int, every other a double: JSON does not tell `20` from
 * `20.0`. Objects become maps with their own fields only, converted when they are looked at.
 *
 * @throws Error for what is not JSON.
 */
export function toCelValue(value: unknown): CelValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    case 'object':
      if (value === null) return null;
      if (value instanceof Double) return value.value;
      if (Array.isArray(value)) return celList(value.map(toCelValue));
      return mapOf(new JsonFields(value as Readonly<Record<string, unknown>>));
    default:
      throw new Error(`a ${typeof value} is not JSON data`);
  }
}

/**
 * A result as JavaScript has it: ints and doubles as numbers, lists as arrays, maps as objects.
 *
 * @throws Error for an int that a number cannot hold, and for what is not JSON, such as a type.
 */
export function fromCelValue(value: CelValue): unknown {
  charge(1);
  if (typeof value === 'bigint') {
    const number = Number(value);
    if (!Number.isSafeInteger(number)) throw new Error('the result is an integer beyond 2^53');
    return number;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (isCelList(value)) return Array.from(value, fromCelValue);
  if (isCelMap(value)) {
    return Object.fromEntries(Array.from(value.entries(), ([key, item]) => [String(key), fromCelValue(item)]));
  }
  throw new Error(`the result is ${isCelUint(value) ? 'a uint' : 'a type'}, not JSON data`);
}

/** The library takes a field that is null for absent, the language does not (cel-spec, "has"). */
function mapOf(fields: JsonFields): CelMap {
  return Object.assign(celMap(fields), { has: (key: unknown) => typeof key === 'string' && fields.has(key) });
}

class JsonFields implements ReadonlyMap<string, CelInput> {
  private readonly seen = new Map<string, CelValue>();
  private names: readonly string[] | null = null;

  constructor(private readonly object: Readonly<Record<string, unknown>>) {}

  get size(): number {
    this.names ??= Object.keys(this.object);
    return this.names.length;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.object, key);
  }

  get(key: string): CelValue | undefined {
    const known = this.seen.get(key);
    // The library asks with keys of other types, too.
    if (known !== undefined || typeof key !== 'string' || !this.has(key)) return known;
    const value = toCelValue(this.object[key]);
    this.seen.set(key, value);
    return value;
  }

  *entries(): MapIterator<[string, CelValue]> {
    for (const name of this.keys()) yield [name, this.get(name) as CelValue];
  }

  *values(): MapIterator<CelValue> {
    for (const [, value] of this.entries()) yield value;
  }

  /** Pays, because the library goes through all keys when it is asked for one that is a number. */
  keys(): MapIterator<string> {
    charge(this.size);
    return (this.names ?? []).values();
  }

  [Symbol.iterator](): MapIterator<[string, CelValue]> {
    return this.entries();
  }

  forEach(callback: (value: CelValue, key: string, map: ReadonlyMap<string, CelInput>) => void): void {
    for (const [name, value] of this.entries()) callback(value, name, this);
  }
}
