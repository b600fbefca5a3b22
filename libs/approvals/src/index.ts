export { boundText, newRequest, type Question, renewed, type Seals } from './request.js';
export { type Circumstances, verify } from './verify.js';
