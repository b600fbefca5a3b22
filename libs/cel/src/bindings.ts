import type { CelValue } from '@bufbuild/cel';
import { toCelValue } from './values.js';

/**
 * Values of variables, plain JSON, converted once however many expressions read them and only where one does. The values
 * must not change afterwards.
 */
export class Bindings {
  private readonly converted = new Map<string, CelValue>();

  constructor(private readonly values: Readonly<Record<string, unknown>>) {}

  /** Undefined: there is no such variable. @throws Error when its value is not JSON. */
  get(name: string): CelValue | undefined {
    const known = this.converted.get(name);
    if (known !== undefined || !Object.hasOwn(this.values, name)) return known;
    const value = toCelValue(this.values[name]);
    this.converted.set(name, value);
    return value;
  }

  /** The value at a path, as it came in; undefined where there is none. */
  at(path: readonly string[]): unknown {
    return path.reduce<unknown>(
      (value, step) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, step)
          ? (value as Readonly<Record<string, unknown>>)[step]
          : undefined,
      this.values,
    );
  }
}
