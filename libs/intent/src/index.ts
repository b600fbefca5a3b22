export * from './commands.js';
export { decide } from './decide.js';
export * from './events.js';
export { evolve, fold, IllegalTransition } from './evolve.js';
export * from './json.js';
export * from './state.js';
export * from './terms.js';
export * from './transitions.js';
export * from './verdict.js';
