export { judge, needsRun, type Verdict } from './judge.js';
export { judgeCall, restrictionNeverRight, restrictionOfRun } from './judge-call.js';
export { policyFileSchema } from './policy-file-schema.js';
export type {
  Ceilings,
  Kind,
  PolicyFile,
  PolicySet,
  Restriction,
  Rule,
  ServiceKeyPolicy,
  ToolPatterns,
} from './policy-set.js';
export { type PolicyText, parsePolicyFiles, readPolicyFiles } from './read-policy-files.js';
export { type Candidate, kindOf, type Replayed, replay, type Unknowable } from './replay.js';
export { type Refusal, refusalBy, restrictionsOf } from './restrictions.js';
export { covers, patternMistake } from './tool-patterns.js';
export { type Facts, type PastCall, type RunFacts, restrictionVariables } from './variables.js';
