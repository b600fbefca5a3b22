export { boundText, newRequest, type Question, renewed, type Seals, valuesOf } from './request.js';
export { type Circumstances, verify } from './verify.js';
