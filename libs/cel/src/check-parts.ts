import { closest, distance } from 'fastest-levenshtein';
import { functionNames, signatureOf } from './functions.js';
import { deepestExpression, mostParts } from './limits.js';
import { matcherOf } from './pattern.js';
import { constantText, inside, type Part, pathOf } from './syntax.js';

/** Variables that an expression may read, each with the fields that it has; null: its fields are not known beforehand. */
export type Variables = Readonly<Record<string, readonly string[] | null>>;

/** A mistake in one part. */
export class Misuse extends Error {
  constructor(
    message: string,
    readonly part: Part,
  ) {
    super(message);
  }
}

/** Names of types, which can be compared with `type(…)`. */
const typeNames = ['int', 'double', 'bool', 'string', 'list', 'map', 'null_type'];

/**
 * Checks that whatever an expression names exists and is allowed: the library itself finds out when it runs, where an error
 * refuses a call.
 *
 * @returns the paths that it reads, such as `[args, amount_cents]`.
 * @throws Misuse
 */
export function checkParts(root: Part, variables: Variables): readonly (readonly string[])[] {
  const reads = new Map<string, readonly string[]>();
  let count = 0;
  check(root, new Set(), 0);
  return [...reads.values()];

  function check(part: Part, bound: ReadonlySet<string>, depth: number): void {
    count += 1;
    if (count > mostParts) throw new Misuse(`has over ${mostParts} parts`, root);
    if (depth > deepestExpression) throw new Misuse(`is nested over ${deepestExpression} deep`, root);
    checkKind(part);
    const path = pathOf(part);
    if (path !== null && !bound.has(path[0] ?? '')) {
      read(part, path);
      count += path.length - 1;
    } else if (part.exprKind.case === 'comprehensionExpr') {
      const loop = part.exprKind.value;
      const inLoop = new Set([...bound, loop.accuVar, loop.iterVar]);
      for (const each of inside(part)) {
        check(each, each === loop.iterRange || each === loop.accuInit ? bound : inLoop, depth + 1);
      }
    } else {
      for (const each of inside(part)) check(each, bound, depth + 1);
    }
  }

  function read(part: Part, path: readonly string[]): void {
    const [name = '', field] = path;
    if (path.length === 1 && typeNames.includes(name)) return;
    if (!Object.hasOwn(variables, name)) throw new Misuse(unknown(name, Object.keys(variables)), beginning(part));
    const fields = variables[name];
    if (field !== undefined && fields && !fields.includes(field)) {
      throw new Misuse(
        unknown(
          `${name}.${field}`,
          fields.map((each) => `${name}.${each}`),
        ),
        part,
      );
    }
    reads.set(path.join('\0'), path);
  }
}

function checkKind(part: Part): void {
  const { case: kind, value } = part.exprKind;
  if (kind === 'callExpr') checkCall(part, value.function, value.target, value.args);
  if (kind === 'structExpr') {
    if (value.messageName !== '') throw new Misuse(`there are no messages such as ${value.messageName} here`, part);
    if (value.entries.some((entry) => entry.optionalEntry))
      throw new Misuse('optional entries are not supported', part);
  }
  if (kind === 'listExpr' && value.optionalIndices.length > 0) {
    throw new Misuse('optional elements are not supported', part);
  }
  if (kind === 'constExpr' && ['bytesValue', 'uint64Value'].includes(value.constantKind.case ?? '')) {
    throw new Misuse('bytes and unsigned numbers are not supported; write a text or a number', part);
  }
}

function checkCall(part: Part, name: string, target: Part | undefined, args: readonly Part[]): void {
  const signature = signatureOf(name);
  if (signature === null) {
    throw new Misuse(`${name} is not a function here; ${suggestion(name, functionNames)}`, part);
  }
  const expected = target ? signature.method : signature.plain;
  if (expected === null) {
    throw new Misuse(`${name} must be written ${target ? `${name}(…)` : `text.${name}(…)`}`, part);
  }
  if (expected !== args.length) throw new Misuse(`${name} takes ${expected} arguments, not ${args.length}`, part);
  if (name === 'matches') checkPattern(args[0] ?? part);
}

/** A pattern from data would be one that a model wrote. */
function checkPattern(part: Part): void {
  const pattern = constantText(part);
  if (pattern === null) throw new Misuse('a pattern must be written as a text, not computed', part);
  try {
    matcherOf(pattern);
  } catch (error) {
    throw new Misuse(`the pattern ${error instanceof Error ? error.message : String(error)}`, part);
  }
}

/** The name that a path begins with. */
function beginning(part: Part): Part {
  const [first] = inside(part);
  return first ? beginning(first) : part;
}

function unknown(name: string, known: readonly string[]): string {
  return `${name} is not known here; ${suggestion(name, known)}`;
}

function suggestion(name: string, known: readonly string[]): string {
  const near = known.length > 0 ? closest(name, [...known]) : name;
  if (near !== name && distance(name, near) <= Math.max(1, near.length / 3)) return `did you mean ${near}?`;
  return known.length > 0 ? `known here: ${known.join(', ')}` : 'nothing is';
}
