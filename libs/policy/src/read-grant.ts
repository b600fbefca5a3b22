import {
  expectedOfBudget,
  type GrantTerms,
  isLine,
  isProse,
  grantLimits as limits,
  microsOf,
  openRunLimits,
  parseDuration,
  Refusal,
  tenantPattern,
} from '@intendant/contracts';
import { Problems } from './problems.js';

/** What somebody wants to agree to in advance; `tenant` null: their own. */
export interface WantedGrant extends Omit<GrantTerms, 'tenant'> {
  readonly tenant: string | null;
  readonly forMs: number;
}

const fields = ['tenant', 'tool', 'when', 'maxUses', 'maxTotal', 'ttl', 'user', 'sandbox', 'reason'];
const { userLength } = openRunLimits;

const expectedOfGrant = {
  maxUses: `a whole number from 1 to ${limits.uses}`,
  ttl: `a duration such as PT30M, 8h or P7D, at most P${limits.longestMs / (24 * 3_600_000)}D`,
} as const;

function isMaxUses(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= limits.uses;
}

/** Reads a message of any shape; null counts as left out. @throws Refusal `invalid_message` naming everything that is wrong */
export function readGrant(message: unknown): WantedGrant {
  const problems = new Problems();
  const { tenant, tool, when, maxUses, maxTotal, ttl, user, sandbox, reason } = problems.object('', message, fields);
  const isTenant = tenant === null || (typeof tenant === 'string' && tenantPattern.test(tenant));
  problems.check('/tenant', tenant, isTenant, 'the name of a tenant');
  problems.check('/tool', tool, isLine(tool, 200), 'the name of a tool');
  const isCondition = when === null || isProse(when, limits.whenLength);
  problems.check('/when', when, isCondition, `text, 1 to ${limits.whenLength} characters`);
  problems.check('/maxUses', maxUses, isMaxUses(maxUses), expectedOfGrant.maxUses);
  problems.check('/maxTotal', maxTotal, maxTotal === null || microsOf(maxTotal) !== null, expectedOfBudget.cost);
  const forMs = typeof ttl === 'string' ? parseDuration(ttl) : null;
  const isShort = forMs !== null && forMs >= 1_000 && forMs <= limits.longestMs;
  problems.check('/ttl', ttl, isShort, expectedOfGrant.ttl);
  const isUser = user === null || isLine(user, userLength);
  problems.check('/user', user, isUser, `a line of text, 1 to ${userLength} characters`);
  problems.check('/sandbox', sandbox, sandbox === null || typeof sandbox === 'boolean', 'true or false');
  const isReason = isProse(reason, limits.reasonLength);
  problems.check('/reason', reason, isReason, `text, 1 to ${limits.reasonLength} characters`);
  const [first] = problems.all;
  if (first) {
    const more = problems.all.length > 1 ? ` (and ${problems.all.length - 1} more)` : '';
    throw new Refusal(
      'invalid_message',
      `${first.pointer || 'The message'}: expected ${first.expected}, got ${first.got}${more}. Nothing was granted.`,
      { problems: problems.all.slice(0, 100).map((problem) => ({ ...problem })) },
    );
  }
  return {
    ...{ tenant, tool, when, maxUses, maxTotal, user, reason },
    sandbox: sandbox === true,
    forMs,
  } as WantedGrant;
}
