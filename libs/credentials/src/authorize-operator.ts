import { Refusal } from '@intendant/contracts';
import { bearer } from './bearer.js';
import type { KeyRing, OperatorIdentity, Role } from './keys.js';

/**
 * The person behind an `Authorization` header, if the header is good and the person has the role; `admin` has all.
 * @throws Refusal `unauthenticated` or `forbidden`
 */
export function authorizeOperator(
  operators: KeyRing<OperatorIdentity>,
  authorization: string | undefined,
  role: Role,
): OperatorIdentity {
  const operator = operators.identify(bearer(authorization));
  if (!operator)
    throw new Refusal('unauthenticated', 'An operator key is needed: Authorization: Bearer <operator key>.');
  if (operator.roles.includes(role) || operator.roles.includes('admin')) return operator;
  throw new Refusal('forbidden', `${operator.name} does not have the role ${role}.`);
}
