import { Refusal } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import type { McpTool } from '@intendant/tools';

interface Kinds {
  readonly string: string;
  readonly number: number;
  readonly object: JsonObject;
}
type Shape = Readonly<Record<string, keyof Kinds>>;
export type FieldsOf<S extends Shape> = { readonly [K in keyof S]?: Kinds[S[K]] };

/** Arguments of a tool of the server's own. @throws Refusal `invalid_arguments` with every problem */
export function readArguments<S extends Shape>(tool: McpTool, args: object, shape: S): FieldsOf<S> {
  const required = new Set([tool.inputSchema['required'] ?? []].flat());
  const problems = [
    ...Object.entries(shape).flatMap(([name, kind]) => {
      const value = (args as Record<string, unknown>)[name];
      const fits = value === undefined ? !required.has(name) : typeOf(value) === kind;
      return fits ? [] : [{ pointer: `/${name}`, expected: `a ${kind}`, got: typeOf(value) }];
    }),
    ...Object.keys(args)
      .filter((name) => !Object.hasOwn(shape, name))
      .map((name) => ({
        pointer: `/${name.slice(0, 100)}`,
        expected: `no field of this name; there are ${Object.keys(shape).join(', ')}`,
        got: 'one',
      })),
  ];
  const [first] = problems;
  if (first === undefined) return args as FieldsOf<S>;
  throw new Refusal(
    'invalid_arguments',
    `The arguments do not fit ${tool.name}: ${first.pointer}: expected ${first.expected}, got ${first.got}.`,
    { problems },
  );
}

function typeOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
