import type { Facts, Other } from '@intendant/contracts';
import type { Call } from './call.js';
import type { Objection } from './objection.js';
import { sentence } from './sentence.js';

/** States of an intent of which nobody can say yet how it ends. */
const unclear: ReadonlySet<string> = new Set([
  'awaiting_approval',
  'authorized',
  'dispatching',
  'accepted',
  'unknown',
  'dead_lettered',
]);
/** Those in which the same call is not made again: it may have happened and nobody was told, or people are asked already. */
const holding: ReadonlySet<string> = new Set(['awaiting_approval', 'accepted', 'unknown', 'dead_lettered']);

/**
 * What a run has asked for already, and does not know the end of, is not done again under another step. A read that may have
 * happened may be made again; people are not asked twice about it either.
 */
export function sameCall({ tool, fingerprint, sandbox }: Call, { open }: Facts): Objection | null {
  const same = open.find(
    (each) =>
      each.tool === tool.name &&
      each.fingerprint === fingerprint &&
      each.sandbox === sandbox &&
      (tool.effect === 'read' ? each.state === 'awaiting_approval' : holding.has(each.state)),
  );
  if (!same) return null;
  const how =
    same.state === 'awaiting_approval' ? 'it waits for the approval of a person' : 'it is not known how it ended';
  return waits(`This very call of ${tool.name} was made in this run (${same.intentId}), and ${how}`, same);
}

/** What people are asked about is not asked once more in other words: whoever refuses one must not find it agreed to as another. */
export function sameQuestion({ tool, gist }: Call, { open }: Facts): Objection | null {
  const asked =
    gist === null ? undefined : open.find((each) => each.state === 'awaiting_approval' && each.gist === gist);
  if (!asked) return null;
  return waits(`People are asked already about such a call of ${tool.name} in this run (${asked.intentId})`, asked);
}

/** The same operation is not done twice, whoever asks for it; in the run that does not know how it ended, it waits. */
export function sameOperation({ session, tool }: Call, { holder }: Facts): Objection | null {
  if (holder === null) return null;
  const inputs = { intentId: holder.intentId, state: holder.state };
  if (holder.runId === session.runId && unclear.has(holder.state)) {
    const how =
      holder.state === 'awaiting_approval'
        ? 'it waits for the approval of a person'
        : 'it is not known yet how it ended';
    return waits(`This run has an earlier ${tool.name} for the same thing (${holder.intentId}), and ${how}`, holder);
  }
  return {
    kind: 'deny',
    code: 'duplicate_business_operation',
    rule: 'business_key',
    message: `${tool.name} was already called for the same thing: intent ${holder.intentId} is ${holder.state}. Nothing was sent. Do not change the call to get around this${holder.runId === session.runId ? '; read what became of that intent' : ''}.`,
    inputs,
    remedy: `${holder.state === 'committed' ? 'time: the same thing may be done again once the window of the business key is over' : 'that the earlier intent ends without an effect'}; then the same call, under a new step if it has one`,
  };
}

/** What names something has to have been named by an earlier result of the run, not by a model's memory. */
export function unfounded({ tool, identifiers }: Call, { found, open }: Facts): Objection | null {
  for (const { pointer, digest, sources } of identifiers) {
    const at = found.get(digest);
    if (sources.some((source) => at?.has(source))) continue;
    const tools = [...new Set(sources.map((source) => source.slice(0, source.indexOf('#'))))];
    const pending = open.find((each) => tools.includes(each.tool) && unclear.has(each.state));
    if (pending) {
      return waits(
        `${pointer} of ${tool.name} may come from ${pending.tool} (${pending.intentId}), and it is not known yet how that ended`,
        pending,
      );
    }
    return {
      kind: 'refuse',
      code: 'fabricated_identifier',
      rule: 'provenance',
      message: `${pointer} of ${tool.name} has to be a value that ${tools.join(' or ')} has returned in this run; this one was not. Nothing was recorded. Call ${tools[0]} first and take the value from its result.`,
      inputs: { pointer, sources: [...sources] },
      remedy: `a value from a result of ${tools.join(' or ')} in this run`,
    };
  }
  return null;
}

/** Whoever has read text from outside may do what that text says. */
export function tainted({ tool, taintedBy }: Call): Objection | null {
  if (taintedBy === null || tool.whenTainted !== 'deny') return null;
  return {
    kind: 'deny',
    code: 'rule_denied',
    rule: 'taint',
    message: `This run has read text from outside (intent ${taintedBy}), and what ${tool.name} does may be what that text wanted. It may not be called any more here. Nothing was sent. Do not try again.`,
    inputs: { intentId: taintedBy },
    remedy: 'a run that has not read text from outside',
  };
}

/** What a person has said no to is not asked again in other words. */
export function refusedBefore({ tool }: Call, { refused }: Facts): Objection | null {
  if (refused === null) return null;
  const { intentId, by, reason } = refused;
  return {
    kind: 'deny',
    code: 'denied_before',
    rule: 'refused_before',
    message: `${by} has refused this already (intent ${intentId}): ${sentence(reason)} Nobody was asked again and nothing was sent. Do not call ${tool.name} for this any more, in whatever words.`,
    inputs: { intentId, by, reason },
    remedy: null,
  };
}

function waits(what: string, other: Other): Objection {
  return {
    kind: 'refuse',
    code: 'blocked_by_unknown',
    rule: 'causal_hold',
    message: `${what}. Nothing was recorded. ${how(other)}, then make the same call again if it is still wanted.`,
    inputs: { intentId: other.intentId, state: other.state },
    remedy: `the outcome of intent ${other.intentId}`,
  };
}

/** Nobody but a person finds out about a dead letter. */
function how({ state, intentId }: Other): string {
  return state === 'dead_lettered'
    ? `A person has to find out about intent ${intentId}: ask your user to see to it`
    : `Wait for the outcome of intent ${intentId}`;
}
