import type { Grant } from '@intendant/contracts';
import { printable } from './table.js';

/** Lines about one grant, for people. */
export function showGrant(grant: Grant): string[] {
  const { id, tenant, tool, toolVersion, sandbox, user, when, used, maxUses, spent, maxTotal } = grant;
  const where = `${sandbox ? ' in the sandbox' : ''} of tenant ${tenant}${user === null ? '' : ` for ${printable(user)}`}`;
  return [
    `grant   ${id}  ${standing(grant)}`,
    `for     ${tool} version ${toolVersion}${where}`,
    `when    ${when === null ? 'whatever the arguments' : printable(when)}`,
    `used    ${used} of ${maxUses}${maxTotal === null ? '' : `, ${spent} of ${maxTotal} units`}`,
    `given   by ${printable(grant.givenBy)} at ${grant.givenAt}, until ${grant.expiresAt}`,
    `reason  ${printable(grant.reason)}`,
  ];
}

/** Whether it can be used, in a word or two. */
export function standing({ inForce, revokedBy, revokedAt, left }: Grant): string {
  if (revokedAt !== null) return `revoked by ${printable(revokedBy ?? '')} at ${revokedAt}`;
  if (!inForce) return 'over';
  return left.uses === 0 || left.total === 0 ? 'used up' : 'in force';
}
