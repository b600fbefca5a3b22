import { type CelValue, isCelList, isCelMap } from '@bufbuild/cel';
import { patternSize } from './pattern.js';
import { charge } from './work.js';

/** Pays for a call before it is made; prices are upper bounds of what the call can take. */
export type Price = (target: CelValue | undefined, args: readonly CelValue[]) => void;

/** Characters that are copied or compared in the time of a unit. */
const charactersPerUnit = 256;
/** Steps of a search in a text in the time of a unit: the engine is quadratic at worst. */
const searchesPerUnit = 512;
/** Instructions of a pattern that a character is put to in the time of a unit, at worst. */
const instructionsPerUnit = 4;
/** Characters that are counted in the time of a unit: counting takes the text apart. */
const countedPerUnit = 16;

/** Comparing texts, or looking at their beginning or end. */
export const priceOfText: Price = (target, args) => {
  charge(1 + Math.min(...[target, ...args].filter((value) => value !== undefined).map(length)) / charactersPerUnit);
};

export const priceOfContains: Price = (target, [part]) => {
  charge(1 + (length(target) * Math.max(1, length(part))) / searchesPerUnit);
};

export const priceOfMatching: Price = (target, [pattern]) => {
  charge(1 + (length(target) * (typeof pattern === 'string' ? patternSize(pattern) : 1)) / instructionsPerUnit);
};

/** Lists and maps know their size. */
export const priceOfSize: Price = (target, [first]) => {
  charge(1 + length(target ?? first) / countedPerUnit);
};

export const priceOfSum: Price = (_, [list]) => {
  charge(1 + (isCelList(list) ? list.size : 0));
};

export const priceOfJoining: Price = (_, [a, b]) => {
  charge(1 + (length(a) + length(b)) / charactersPerUnit);
  if (isCelList(a) && isCelList(b)) charge(a.size + b.size);
};

/** Lists and maps of different size are not equal, so nothing of them is looked at. */
export const priceOfComparing: Price = (_, [a, b]) => {
  charge(1);
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length === b.length) charge(a.length / charactersPerUnit);
  } else if ((isCelList(a) && isCelList(b)) || (isCelMap(a) && isCelMap(b))) {
    if (a.size === b.size) payForAll(a);
  }
};

/** One unit for each value inside, whatever the nesting. */
function payForAll(value: CelValue): void {
  charge(1 + length(value) / charactersPerUnit);
  if (isCelList(value)) for (const item of value) payForAll(item);
  else if (isCelMap(value)) for (const item of value.values()) payForAll(item);
}

function length(value: CelValue | undefined): number {
  return typeof value === 'string' ? value.length : 0;
}
