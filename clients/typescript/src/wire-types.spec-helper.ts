import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export type Schema = Readonly<Record<string, unknown>>;

const wire = fileURLToPath(new URL('wire.ts', import.meta.url));

/** Of types that are the same but for `readonly`. Members are compared too, also optional ones, which assignments let pass. */
const same = `
type Plain<T> = Is<T, wire.JsonObject> extends true ? 'any object'
  : T extends readonly (infer Item)[] ? Plain<Item>[]
  : T extends object ? { -readonly [K in keyof T]: Plain<T[K]> }
  : T;
type Is<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
type Same<A, B> = Is<Plain<A>, Plain<B>>;
`;

/** Of each type of the client and schema: whether the compiler finds that they say the same. */
export function agreements(document: Schema, pairs: readonly (readonly [string, Schema])[]): boolean[] {
  const head = `import type * as wire from ${JSON.stringify(wire.replace(/\.ts$/, '.js'))};\n${same}`;
  const first = head.split('\n').length;
  const checks = pairs.map(
    ([type, schema], at) => `export const c${at}: Same<wire.${type}, ${typeOf(document, schema)}> = true;`,
  );
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'wire-types-'));
  try {
    const file = path.join(folder, 'checks.ts');
    fs.writeFileSync(file, [head, ...checks].join('\n'));
    const options = { strict: true, noEmit: true, types: [], lib: ['lib.es2023.d.ts'] };
    const modules = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
    const program = ts.createProgram([file], { ...options, ...modules });
    const checked = program.getSourceFile(file);
    const wrong = new Set<number>();
    for (const { start = 0, messageText } of program.getSemanticDiagnostics(checked)) {
      const line = checked?.getLineAndCharacterOfPosition(start).line ?? -1;
      const text = ts.flattenDiagnosticMessageText(messageText, '\n');
      if (line < first || !text.startsWith("Type 'true'")) throw new Error(`${checks[line - first]}: ${text}`);
      wrong.add(line - first);
    }
    return pairs.map((_, at) => !wrong.has(at));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** A schema of the document as TypeScript. @throws Error of a keyword that it does not know: it could say anything */
function typeOf(document: Schema, schema: Schema): string {
  const { $ref, enum: values, oneOf, allOf, type, properties, items, additionalProperties, required } = schema;
  if (typeof $ref === 'string') return typeOf(document, at(document, ...$ref.split('/').slice(1)));
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (Array.isArray(oneOf)) return oneOf.map((each) => typeOf(document, each)).join(' | ');
  if (Array.isArray(allOf)) return typeOf(document, merged(document, allOf));
  if (Array.isArray(type)) return type.map((each) => typeOf(document, { ...schema, type: each })).join(' | ');
  switch (type) {
    case undefined:
      return 'unknown';
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return type;
    case 'array':
      return `(${typeOf(document, items as Schema)})[]`;
    case 'object': {
      if (properties === undefined) return additionalProperties === true ? 'wire.JsonObject' : '{}';
      const needed = new Set(required as readonly string[] | undefined);
      const members = Object.entries(properties as Record<string, Schema>).map(
        ([name, each]) => `${name}${needed.has(name) ? '' : '?'}: ${typeOf(document, each)};`,
      );
      return `{ ${members.join(' ')}${additionalProperties === true ? ' [member: string]: unknown;' : ''} }`;
    }
  }
  throw new Error(`a type that is not known: ${JSON.stringify(schema)}`);
}

/** One schema of several that hold together. */
function merged(document: Schema, all: readonly Schema[]): Schema {
  const each = all.map((one) =>
    typeof one['$ref'] === 'string' ? at(document, ...one['$ref'].split('/').slice(1)) : one,
  );
  return {
    ...Object.assign({}, ...each),
    properties: Object.assign({}, ...each.map((one) => one['properties'])),
    required: each.flatMap((one) => (one['required'] as string[] | undefined) ?? []),
  };
}

/** What stands in the document at these names. @throws Error where there is nothing */
export function at(document: Schema, ...names: readonly string[]): Schema {
  let found: unknown = document;
  for (const name of names) found = (found as Record<string, unknown> | undefined)?.[name];
  if (typeof found !== 'object' || found === null) throw new Error(`nothing at ${names.join(' ')}`);
  return found as Schema;
}
