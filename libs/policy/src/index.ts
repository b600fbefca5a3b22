export { propose, rule, type Submission, type Verdict } from './admission.js';
export type { Call, NamedIdentifier, NamedRate, Written } from './call.js';
export { type Ceiling, defaultCeiling } from './ceiling.js';
export type { Objection } from './objection.js';
export { covers, pauseOver } from './pause.js';
export { type Opening, readOpening } from './read-opening.js';
export { type CheckRestriction, type RunTerms, shownBudgets, termsOf } from './run-terms.js';
export { renderImpact, renderView } from './view.js';
