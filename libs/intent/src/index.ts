export {
  type ApprovalRequest,
  type Approvals,
  type Approver,
  approvalEnds,
  type Demand,
  givenTo,
  isComplete,
  isJudged,
  isSamePerson,
  judgedBy,
  newestOf,
  type Preview,
  type Verification,
  wantsPreview,
} from './approval.js';
export * from './commands.js';
export { decide } from './decide.js';
export { isEntitled } from './decide-approval.js';
export * from './events.js';
export { evolve, fold, IllegalTransition } from './evolve.js';
export { nothingDone, safeResendUntil, unproven } from './follow-up.js';
export { furtherHoldings, type Holdings, holdingsOf, isHeld, noHoldings, sumOfHoldings, takenBy } from './holdings.js';
export { doubts, isFinished } from './is-finished.js';
export * from './json.js';
export * from './state.js';
export * from './terms.js';
export * from './transitions.js';
export { valuesAt } from './values-at.js';
export * from './verdict.js';
