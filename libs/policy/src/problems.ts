/** One thing that is wrong with what somebody sent. */
export interface Problem {
  /** JSON pointer into the message. */
  readonly pointer: string;
  readonly expected: string;
  readonly got: string;
}

const longestShown = 100;

/** Collects all that is wrong with a message, so that its sender is told of it at once. */
export class Problems {
  readonly all: Problem[] = [];

  check(pointer: string, value: unknown, fits: boolean, expected: string): void {
    if (!fits) this.all.push({ pointer, expected, got: shown(value) });
  }

  /** The members of an object, those that are left out as null; any other is a problem, as is what is no object. */
  object(pointer: string, value: unknown, names: readonly string[]): Record<string, unknown> {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const members = isObject ? (value as Record<string, unknown>) : {};
    this.check(pointer, value, isObject, `an object with ${names.join(', ')}`);
    for (const name of Object.keys(members).filter((each) => !names.includes(each))) {
      const escaped = name.replaceAll('~', '~0').replaceAll('/', '~1').slice(0, 200);
      this.check(`${pointer}/${escaped}`, members[name], false, 'no field of this name');
    }
    return Object.fromEntries(names.map((name) => [name, Object.hasOwn(members, name) ? members[name] : null]));
  }
}

function shown(value: unknown): string {
  // JSON has no word for those; a number too large for a double is one of them.
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'nothing');
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
