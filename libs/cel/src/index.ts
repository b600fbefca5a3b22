export { Bindings } from './bindings.js';
export { CelError } from './cel-error.js';
export type { Variables } from './check-parts.js';
export { compile, type Evaluation, type Expression } from './compile.js';
export { type Cost, costOf, costVariables, largestCost } from './cost.js';
export type { Comparison, KindOfAnswer } from './kind-of-answer.js';
export { deepestExpression, longestExpression, mostParts, mostWork } from './limits.js';
export { Double } from './values.js';
