/** Values that tool files may refer to as `${NAME}`; usually the environment of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

// Inside a YAML flow collection a plain `${NAME}` would end at its brace. So references are written with private-use
// characters of the same length while YAML is parsed, which keeps every position in the file as it is.
const open = '\u{e000}\u{e000}';
const close = '\u{e001}';
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*(?::-[^}\n]*)?)\}/g;
const masked = /\u{e000}\u{e000}([A-Za-z_][A-Za-z0-9_]*)(?::-([^\u{e001}]*))?\u{e001}/gu;

/** YAML text whose references to variables are plain text to a YAML parser. */
export function maskReferences(text: string): string {
  return text.replace(reference, `${open}$1${close}`);
}

/** The text as it stands in the file. */
export function unmaskReferences(text: string): string {
  return text.replaceAll(open, '${').replaceAll(close, '}');
}

/**
 * Fills in the variables of one string. As in a shell, `${NAME:-default}` also stands in for an empty value.
 *
 * @returns the filled-in text, the values that came from the environment with their offsets in it, and the names that
 * are not set.
 */
export function fillIn(text: string, env: Environment): Filled {
  const missing: string[] = [];
  const values: { name: string; value: string; at: number }[] = [];
  let shift = 0;
  const filled = text.replace(masked, (whole: string, name: string, fallback: string | undefined, offset: number) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value) values.push({ name, value, at: offset + shift });
    else if (value === undefined && fallback === undefined) missing.push(name);
    const result = fallback === undefined ? (value ?? whole) : value || fallback;
    shift += result.length - whole.length;
    return result;
  });
  return { text: filled, values, missing };
}

export interface Filled {
  readonly text: string;
  readonly values: readonly { readonly name: string; readonly value: string; readonly at: number }[];
  readonly missing: readonly string[];
}
