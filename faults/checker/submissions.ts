import { argsHash } from '../history/args-hash.js';
import type { ClientEntry } from '../history/clients.js';
import type { History } from '../history/history.js';
import type { TimelineLine } from '../history/violation.js';
import { isRead } from './effects.js';
import type { Finding, Rule } from './finding.js';
import type { Stories, Story } from './story.js';
import { streamLostAt } from './streams.js';
import { clientLine, inOrder } from './timeline.js';
import { count } from './wording.js';

/** I2: what was answered is there, is what was asked for, and asking again for the same is answered with the same intent. */
export const submitsAreKept: Rule = (history, stories) => [
  ...missing(history, stories),
  ...ofOthers(history, stories),
  ...severalAnswers(history, stories),
  ...twoForOneCall(stories),
];

/** I10: one step with other arguments is a conflict, and never on the wire. */
export const conflictsStayHere: Rule = (history, stories) => [
  ...stories.all.flatMap((story) => [...otherBodies(story), ...otherArguments(story)]),
  ...mixedAnswers(history, stories),
];

function submits({ clients }: History): ClientEntry[] {
  return clients.filter(({ operation }) => operation === 'submit');
}

function missing(history: History, stories: Stories): Finding[] {
  const recorded = new Set(stories.all.flatMap(({ id, row }) => (row ? [id] : [])));
  return submits(history).flatMap((entry) => {
    const { phase, answer, via, ref } = entry;
    if (phase !== 'answered') return [];
    const broken = (message: string): Finding[] => {
      const lines = linesOf(history, ({ requestId, stepId, runId }) =>
        stepId === null ? requestId === entry.requestId : stepId === entry.stepId && runId === entry.runId,
      );
      return [{ rule: 'I2', message, story: null, lines }];
    };
    if (via === 'nats_publish') {
      if (stories.of(entry) || isKept(entry, history) || isExcused(entry, history)) return [];
      return broken(`the submission of ${ref} was acknowledged, and there is neither an intent nor a dead message`);
    }
    const id = answer?.intentId ?? null;
    if (id !== null) {
      return recorded.has(id)
        ? []
        : broken(`the submit of ${ref} was answered with intent ${id}, and there is no row of it`);
    }
    const fine = answer?.httpStatus != null && answer.httpStatus >= 200 && answer.httpStatus < 300;
    return fine ? broken(`the submit of ${ref} was answered ${answer?.httpStatus} without an intent`) : [];
  });
}

/** What an agent that keeps to the contract may be refused for: its authority was over, or it asked for something else. */
const deserved: ReadonlySet<string | undefined> = new Set(['unauthenticated', 'run_closed', 'idempotency_conflict']);

/** It was refused for a reason of its own, and an operator can read it. */
function isKept({ ref }: ClientEntry, { database: { deadMessages } }: History): boolean {
  return deadMessages.some(
    ({ payload, error }) => payload.includes(`"${ref}"`) && deserved.has((error as { readonly code?: string }).code),
  );
}

/** An answer that names an intent of somebody else's, or does not know one that its client has been told of. */
function ofOthers({ clients }: History, stories: Stories): Finding[] {
  const told = new Map<string, number>();
  return clients.flatMap((entry) => {
    const { answer, at, operation, ref } = entry;
    const id = answer?.intentId ?? null;
    const before = told.get(nameOf(entry));
    if (id !== null) told.set(nameOf(entry), Math.min(at, before ?? at));
    const story = stories.all.find((each) => each.id === id);
    if (story?.row && !isOf(story, entry)) {
      const message = `the ${operation} of ${ref} was answered with intent ${id}, which is ${story.ref ?? 'of no known call'}`;
      return [{ rule: 'I2' as const, message, story, lines: [clientLine(entry)] }];
    }
    if ((operation !== 'get' && operation !== 'cancel') || answer?.httpStatus !== 404) return [];
    const message = `the ${operation} of ${ref} was answered 404, and its client had been told of the intent`;
    return [{ rule: 'I2' as const, message, story: stories.of(entry) ?? null, lines: [clientLine(entry)] }];
  });
}

function isOf({ row, ref }: Story, entry: ClientEntry): boolean {
  if (row?.runId !== entry.runId || row.tool !== entry.tool) return false;
  return row.stepId === null ? ref === entry.ref : row.stepId === entry.stepId;
}

/** Acknowledged by a store that was lost or turned back afterwards, before it was admitted. */
function isExcused({ at }: ClientEntry, history: History): boolean {
  return at <= streamLostAt(history, 'INTENDANT_INTENTS');
}

function linesOf({ clients }: History, fits: (entry: ClientEntry) => boolean): TimelineLine[] {
  return inOrder(clients.filter(fits).map(clientLine));
}

/** What makes two submits the same: the step, or the arguments where there is none. */
function nameOf({ runId, stepId, tool, argsHash }: ClientEntry): string {
  return JSON.stringify([runId, tool, stepId, argsHash]);
}

function groups(entries: readonly ClientEntry[], name: (entry: ClientEntry) => string): Map<string, ClientEntry[]> {
  const found = new Map<string, ClientEntry[]>();
  for (const entry of entries) found.set(name(entry), [...(found.get(name(entry)) ?? []), entry]);
  return found;
}

function severalAnswers(history: History, stories: Stories): Finding[] {
  const answered = submits(history).filter(({ answer }) => answer?.intentId != null && !isConflict(answer));
  return [...groups(answered, nameOf).values()].flatMap((same) => {
    const ids = [...new Set(same.map(({ answer }) => answer?.intentId))];
    const [first] = same;
    const standing = ids.filter((id) => !isMadeAgain(stories.all.find((story) => story.id === id)));
    if (ids.length < 2 || standing.length === 0 || !first) return [];
    if (standing.length === 1 && first.stepId === null) return [];
    const message = `the same submit of ${first.ref} was answered with ${count(ids.length, 'intent')}: ${ids.join(', ')}`;
    return [{ rule: 'I2' as const, message, story: stories.of(first) ?? null, lines: inOrder(same.map(clientLine)) }];
  });
}

const overForNothing: ReadonlySet<string> = new Set(['failed', 'denied', 'cancelled', 'expired']);

/** Requested without a step, what only read or did nothing does not keep the same call from being made again (docs/decisions/0028). */
function isMadeAgain(story: Story | undefined): boolean {
  if (!story?.row || story.row.stepId !== null) return false;
  const isRequested = story.clients.some(({ operation, via }) => operation === 'submit' && via !== 'nats_publish');
  return isRequested && (story.row.effect === 'read' || overForNothing.has(story.row.state));
}

/** A call is its step, or its arguments where it has none. */
function twoForOneCall({ all }: Stories): Finding[] {
  const owners = new Map<string, Story>();
  return all.flatMap((story) => {
    const { row } = story;
    if (row === null || isMadeAgain(story)) return [];
    const { tenant, runId, tool, stepId, fingerprint } = row;
    const call = JSON.stringify([tenant, runId, tool, stepId === null ? { fingerprint } : { stepId }]);
    const owner = owners.get(call);
    owners.set(call, owner ?? story);
    if (!owner) return [];
    const name = stepId === null ? 'the same arguments without a step' : `step ${stepId}`;
    return [{ rule: 'I2' as const, message: `${name} of ${tool} has two intents, ${owner.id} as well`, story }];
  });
}

/** What leaves is what was recorded; a read puts its arguments into its address. */
function otherBodies(story: Story): Finding[] {
  const args = recordedArgs(story);
  if (args === null || isRead(story)) return [];
  const expected = argsHash(args);
  const other = [...story.requests, ...story.effects].find((line) => line.argsHash !== expected);
  if (!other) return [];
  const message = `${other.kind === 'request' ? 'a request' : 'an effect'} of attempt ${other.attemptId} has other arguments than were recorded`;
  return [{ rule: 'I10', message, story }];
}

/** What is recorded is what was asked for. */
function otherArguments(story: Story): Finding[] {
  const args = recordedArgs(story);
  const taken = story.clients.filter(
    ({ operation, phase, answer }) => operation === 'submit' && phase === 'answered' && !isConflict(answer),
  );
  const asked = taken.map((entry) => entry.argsHash);
  if (args === null || asked.length === 0 || asked.includes(argsHash(args))) return [];
  return [{ rule: 'I10', message: 'recorded with arguments that nobody asked for', story }];
}

function recordedArgs({ events }: Story): Readonly<Record<string, unknown>> | null {
  const proposal = events[0]?.data['proposal'] as { readonly args?: Readonly<Record<string, unknown>> } | undefined;
  return proposal?.args ?? null;
}

function isConflict(answer: ClientEntry['answer']): boolean {
  return answer?.code === 'idempotency_conflict';
}

function mixedAnswers(history: History, stories: Stories): Finding[] {
  const steps = groups(
    submits(history).filter(({ stepId }) => stepId !== null),
    ({ runId, stepId, tool }) => JSON.stringify([runId, stepId, tool]),
  );
  return [...steps.values()].flatMap((same) => {
    const taken = hashes(same.filter(({ answer }) => answer?.intentId != null && !isConflict(answer)));
    const refused = hashes(same.filter(({ answer }) => isConflict(answer)));
    const tried = hashes(same);
    const [first] = same;
    if (!first) return [];
    const broken = (message: string): Finding[] => {
      return [{ rule: 'I10', message, story: stories.of(first) ?? null, lines: inOrder(same.map(clientLine)) }];
    };
    if (taken.size > 1) return broken(`step ${first.stepId} was taken with ${taken.size} different sets of arguments`);
    if (refused.size > 0 && tried.size === 1) {
      return broken(`step ${first.stepId} was answered with a conflict, and it came with one set of arguments only`);
    }
    const both = [...taken].find((hash) => refused.has(hash));
    return both === undefined
      ? []
      : broken(`step ${first.stepId} was taken and called a conflict with the same arguments`);
  });
}

function hashes(entries: readonly ClientEntry[]): Set<string | null> {
  return new Set(entries.map(({ argsHash }) => argsHash));
}
