import type { Facts } from '@intendant/contracts';
import type { Demand } from '@intendant/intent';
import type { Call } from './call.js';
import { sentence } from './sentence.js';

/** Rules by which a demand for approval is made on top of what people have written down. */
export const demandRules = { tool: 'approval', taint: 'taint', alike: 'look_alike', before: 'asked_before' } as const;

/** Why a person has to agree: everything that asks for it, so that whoever agrees knows all of it. */
export function demandsOf(call: Call, facts: Facts | null): Demand[] {
  return [...byTool(call), ...byTheBook(call), ...byTaint(call), ...byLikeness(call, facts)];
}

/**
 * Why a person who was asked already has to agree by the rules of now. What stood beside the rules, a likeness or a grant that
 * is over, is as it was.
 */
export function demandsAgain(call: Call, earlier: readonly Demand[]): Demand[] {
  const demands = [...demandsOf(call, null), ...earlier.filter(({ rule }) => besideRules.has(rule))];
  return demands.length > 0 ? demands : [noLonger];
}

const besideRules: ReadonlySet<string> = new Set([demandRules.alike, 'grant']);

const noLonger: Demand = {
  rule: demandRules.before,
  message: 'No rule asks for this any more since the policy files changed; it was asked about before.',
};

function byTool({ tool }: Call): Demand[] {
  if (!tool.approval.required) return [];
  return [{ rule: demandRules.tool, message: `${tool.name} always needs the approval of a person.` }];
}

function byTheBook({ tool, written }: Call): Demand[] {
  if (written.kind !== 'require_approval') return [];
  const message = sentence(written.message || `${tool.name} needs the approval of a person`);
  return [{ rule: written.rule ?? 'default', message }];
}

/** Whoever has read text from outside may do what that text says. */
function byTaint({ tool, taintedBy }: Call): Demand[] {
  if (taintedBy === null || tool.whenTainted !== 'require_approval') return [];
  const message = `The run has read text from outside (intent ${taintedBy}), and this may be what that text wanted.`;
  return [{ rule: demandRules.taint, message }];
}

/** Something like it was done a short while ago; a person has to say that it is meant twice. */
function byLikeness({ tool }: Call, facts: Facts | null): Demand[] {
  const { alike = null, now = 0 } = facts ?? {};
  if (alike === null || tool.similar?.mode !== 'approve') return [];
  const ago = Math.round((now - alike.at) / 1_000);
  const message = `It looks like intent ${alike.intentId}, which is ${alike.state}, of ${ago} s ago (same ${tool.similar.fields.join(', ')}).`;
  return [{ rule: demandRules.alike, message }];
}
