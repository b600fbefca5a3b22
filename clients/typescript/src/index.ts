export { IntendantError, NoOutcomeYet } from './errors.js';
export { NoAnswer } from './http.js';
export { Intendant, type IntendantOptions } from './intendant.js';
export * from './models.js';
export { type CallOptions, type EventOptions, Run, type WaitOptions } from './run.js';
export type * from './wire.js';
