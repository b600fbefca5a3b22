import { type CelEnv, type CelValue, celList, isCelList, isCelMap } from '@bufbuild/cel';
import { library } from './library.js';
import {
  type Price,
  priceOfComparing,
  priceOfContains,
  priceOfJoining,
  priceOfMatching,
  priceOfSize,
  priceOfSum,
  priceOfText,
} from './prices.js';
import { charge } from './work.js';

type Group = NonNullable<ReturnType<CelEnv['funcs']['find']>>;
type Call = Group['call'];

/** How a name may be called: how many arguments after a dot (`text.contains(part)`) and without. */
export interface Signature {
  readonly method: number | null;
  readonly plain: number | null;
}

const free: Price = () => charge(1);
const infix = { plain: 2, method: null };
const prefix = { plain: 1, method: null };
const unary = { plain: null, method: 1 };

/** Every function and operator that an expression may call, with the price of a call; all others are refused. */
const allowed: Readonly<Record<string, Signature & { readonly price: Price; readonly call?: Call }>> = {
  '!_': { ...prefix, price: free },
  '-_': { ...prefix, price: free },
  '_-_': { ...infix, price: free },
  '_*_': { ...infix, price: free },
  '_/_': { ...infix, price: free },
  '_%_': { ...infix, price: free },
  '_+_': { ...infix, price: priceOfJoining, call: join },
  '_==_': { ...infix, price: priceOfComparing },
  '_!=_': { ...infix, price: priceOfComparing },
  '_<_': { ...infix, price: priceOfText },
  '_<=_': { ...infix, price: priceOfText },
  '_>_': { ...infix, price: priceOfText },
  '_>=_': { ...infix, price: priceOfText },
  '@in': { ...infix, price: free, call: isIn },
  size: { plain: 1, method: 0, price: priceOfSize },
  contains: { ...unary, price: priceOfContains },
  startsWith: { ...unary, price: priceOfText },
  endsWith: { ...unary, price: priceOfText },
  matches: { ...unary, price: priceOfMatching },
  int: { ...prefix, price: free },
  double: { ...prefix, price: free },
  string: { ...prefix, price: free },
  type: { ...prefix, price: free },
  dyn: { ...prefix, price: free },
  sum: { ...prefix, price: priceOfSum },
};

/** What the planner itself knows, with the number of operands. */
const builtIn: Readonly<Record<string, number>> = {
  '_&&_': 2,
  '_||_': 2,
  '_?_:_': 3,
  '_[_]': 2,
  '@not_strictly_false': 1,
};

/** What comprehensions are rewritten to (meter-loops.ts); no text of an expression can name them. */
const internal: Readonly<Record<string, Call>> = {
  '@range': (_id, _target, [range, parts]) => {
    const size = isCelList(range) || isCelMap(range) ? range.size : 0;
    charge(size * Number(parts));
    return range;
  },
  '@list': () => {
    const items: CelValue[] = [];
    const list = celList(items);
    growing.set(list, items);
    return list;
  },
  '@append': (_id, _target, [list, item]) => {
    growing.get(list as object)?.push(item as CelValue);
    return list;
  },
};

/** Lists that a `map` or `filter` under way adds to; nothing else sees them before they are complete. */
const growing = new WeakMap<object, CelValue[]>();

/** How a function may be called; null: there is none of that name, or it is not allowed. */
export function signatureOf(name: string): Signature | null {
  if (Object.hasOwn(builtIn, name)) return { plain: builtIn[name] ?? null, method: null };
  return Object.hasOwn(allowed, name) ? (allowed[name] ?? null) : null;
}

/** Functions that can be written by name, for messages. */
export const functionNames: readonly string[] = Object.keys(allowed).filter((name) => /^[a-z]/i.test(name));

/** The library's environment with nothing in it but what is allowed, each call paid for before it is made. */
export const meteredEnv: CelEnv = Object.create(library, {
  funcs: { value: { find: (name: string) => metered.get(name) } },
});

const metered = new Map<string, Pick<Group, 'name' | 'call'>>([
  ...Object.entries(allowed).map(([name, { price, call }]) => {
    const run: Call = call ?? ((...all) => library.funcs.find(name)?.call(...all));
    const paid: Call = (id, target, args) => {
      price(target, args);
      return run(id, target, args);
    };
    return [name, { name, call: paid }] as const;
  }),
  ...Object.entries(internal).map(([name, call]) => [name, { name, call }] as const),
]);

function join(...[id, target, args]: Parameters<Call>): ReturnType<Call> {
  const [a, b] = args;
  // The library's chain of lists is walked once per link.
  return isCelList(a) && isCelList(b) ? celList([...a, ...b]) : library.funcs.find('_+_')?.call(id, target, args);
}

function isIn(...[id, target, args]: Parameters<Call>): ReturnType<Call> {
  const [value, container] = args;
  if (isCelMap(container)) {
    charge(container.size);
    return typeof value === 'string'
      ? container.get(value) !== undefined
      : library.funcs.find('@in')?.call(id, target, args);
  }
  if (!isCelList(container)) return undefined;
  for (const item of container) {
    if (metered.get('_==_')?.call(id, target, [value as CelValue, item]) === true) return true;
  }
  return false;
}
