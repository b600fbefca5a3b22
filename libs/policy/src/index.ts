export { propose, rule, type Submission, type Verdict } from './admission.js';
export type { Call, NamedIdentifier, NamedRate, Written } from './call.js';
export type { Objection } from './objection.js';
export { covers, pauseOver } from './pause.js';
