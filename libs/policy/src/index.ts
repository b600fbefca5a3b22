export { type AdmissionFacts, propose, type Ruling, rule, type Submission } from './admission.js';
