import { closest } from 'fastest-levenshtein';
import jsonata from 'jsonata';
import { jsonataFunctions } from './jsonata-functions.js';
import { patternMistake } from './linear-pattern.js';
import { nearest } from './suggest.js';
import type { Path, ToolSource } from './tool-source.js';

/**
 * Checks a JSONata expression, if there is one: that it compiles, and that whatever it calls or refers to exists.
 * JSONata itself finds out when it runs, which may be after the effect.
 *
 * @param bindings names of the variables that the runtime gives it.
 */
export function checkExpression(source: ToolSource, path: Path, bindings: readonly string[]): void {
  const text = source.text(...path);
  if (text === null) return;
  // It would run text that a model or an upstream wrote.
  if (/\$eval\b/.test(text)) source.report(path, '$eval is not allowed; must be written out');
  try {
    const nodes = nodesOf(jsonata(text).ast());
    const variables = [...new Set([...bindings, ...nodes.flatMap(boundBy)])];
    for (const node of nodes) {
      const mistake = mistakeIn(node, variables);
      if (mistake) source.report(path, mistake);
    }
  } catch (error) {
    const { message, position } = error as { message: string; position?: number };
    source.report(path, `${message}${position ? ` at character ${position}` : ''}; must be a JSONata expression`);
  }
}

/** Fields and variables that an expression names, `$` and `$$` included; null when it does not compile. */
export function expressionNames(text: string): ReadonlySet<string> | null {
  try {
    const named = nodesOf(jsonata(text).ast()).filter(({ type }) => type === 'name' || type === 'variable');
    return new Set(
      named.map(({ type, value }) =>
        type === 'variable' && (value === '' || value === '$') ? `$${value}` : String(value),
      ),
    );
  } catch {
    return null;
  }
}

/** Whether an expression looks at anything beside its own constants and functions; true when it does not compile. */
export function readsInput(text: string): boolean {
  try {
    return nodesOf(jsonata(text).ast()).some(
      ({ type, value }) =>
        ['name', 'wildcard', 'descendant', 'parent'].includes(String(type)) ||
        (type === 'variable' && !jsonataFunctions.includes(String(value))),
    );
  } catch {
    return true;
  }
}

/** Whether an expression takes a name as a whole, such as `$args`, and not only fields of it; true when it does not compile. */
export function usesWhole(text: string, name: string): boolean {
  try {
    const nodes = nodesOf(jsonata(text).ast());
    const isName = (node: unknown) =>
      isNode(node) && (node['type'] === 'name' || node['type'] === 'variable') && node['value'] === name;
    const intoIt = ({ type, steps }: Node) =>
      type === 'path' && Array.isArray(steps) && steps.length > 1 && isName(steps[0]);
    return nodes.filter(isName).length > nodes.filter(intoIt).length;
  } catch {
    return true;
  }
}

type Node = Readonly<Record<string, unknown>>;

function mistakeIn(node: Node, variables: readonly string[]): string | null {
  if (node['type'] === 'regex' && node['value'] instanceof RegExp) {
    const mistake = patternMistake(node['value']);
    return mistake && `the pattern ${node['value'].source} ${mistake}`;
  }
  // `$` and `$$` are the context and the root.
  if (node['type'] === 'variable' && node['value'] !== '' && node['value'] !== '$') {
    return unknownName(String(node['value']), variables);
  }
  const called = isNode(node['procedure']) ? node['procedure'] : {};
  const [step] = called['type'] === 'path' && Array.isArray(called['steps']) ? (called['steps'] as Node[]) : [];
  if (step?.['type'] !== 'name') return null;
  return `${step['value']} is a field and cannot be called; functions begin with \`$\`, as in $${closest(String(step['value']), [...jsonataFunctions])}`;
}

function unknownName(name: string, variables: readonly string[]): string | null {
  if (jsonataFunctions.includes(name) || variables.includes(name)) return null;
  const known = [...jsonataFunctions, ...variables];
  const others = variables.map((each) => `$${each}`).join(', ');
  return `$${name} is neither a function of JSONata nor known here (${others}); nearest is $${nearest(name, known) ?? closest(name, known)}`;
}

/** Names that a node sets: `$x := …`, parameters of functions, `@$x` and `#$x`. */
function boundBy({ type, lhs, arguments: parameters, focus, index, value }: Node): string[] {
  const set = type === 'bind' ? [lhs] : type === 'lambda' && Array.isArray(parameters) ? parameters : [];
  return [...set.map((variable: unknown) => (isNode(variable) ? variable['value'] : null)), focus, index]
    .concat(type === 'index' ? value : null)
    .filter((name) => typeof name === 'string');
}

function nodesOf(root: unknown, seen = new Set<unknown>()): Node[] {
  if (!isNode(root) || seen.has(root)) return [];
  seen.add(root);
  return [root, ...Object.values(root).flatMap((part) => nodesOf(part, seen))];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}
