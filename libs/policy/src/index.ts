export { type AdmissionFacts, propose, type Ruling, rule, type Submission } from './admission.js';
export { covers, pauseOver } from './pause.js';
