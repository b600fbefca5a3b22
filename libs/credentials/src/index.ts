export { ApprovalSeals } from './approval-seals.js';
export { authorizeOperator } from './authorize-operator.js';
export { authorizeService } from './authorize-service.js';
export { bearer } from './bearer.js';
export {
  KeyRing,
  type OperatorIdentity,
  parseOperatorKeys,
  parseServiceKeys,
  type Role,
  roles,
  type ServiceIdentity,
} from './keys.js';
export { RunTokens } from './run-token.js';
export { parsePreviousSecrets } from './token-keys.js';
