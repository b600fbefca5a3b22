import type { ClientEntry } from '../history/clients.js';
import type { History } from '../history/history.js';
import type { TimelineLine } from '../history/violation.js';
import type { Finding, Rule } from './finding.js';
import type { Stories, Story } from './story.js';
import { clientLine, inOrder } from './timeline.js';
import { count } from './wording.js';

/** I2: what was answered is there, and asking again for the same is answered with the same intent. */
export const submitsAreKept: Rule = (history, stories) => [
  ...missing(history, stories),
  ...severalAnswers(history, stories),
  ...twoForOneStep(stories),
];

/** I10: one step with other arguments is a conflict, and never on the wire. */
export const conflictsStayHere: Rule = (history, stories) => [
  ...stories.all.flatMap(severalBodies),
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

/** It was refused for a reason of its own (its token was over, say), and an operator can read it. */
function isKept({ ref }: ClientEntry, { database: { deadMessages } }: History): boolean {
  return deadMessages.some(({ payload, error }) => {
    const { code } = error as { readonly code?: string };
    return payload.includes(`"${ref}"`) && code !== undefined && code !== 'unavailable' && code !== 'internal';
  });
}

/** Acknowledged by a store that was lost or turned back afterwards, before it was admitted. */
function isExcused({ at }: ClientEntry, history: History): boolean {
  return at <= streamsLostAt(history);
}

/** Faults that take messages out of streams. */
const losses: ReadonlySet<string> = new Set(['nats.wipe', 'nats.restore', 'nats.delete_stream']);

/** The last time that streams may have lost what they held; minus infinity where they never did. */
export function streamsLostAt({ meta, faults }: History): number {
  if (!meta.excuses.streamsLost) return Number.NEGATIVE_INFINITY;
  const lost = faults.filter(({ kind, happened }) => happened !== false && losses.has(kind));
  return lost.length === 0 ? meta.healedAt : Math.max(...lost.map(({ at }) => at));
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
    if (ids.length < 2 || !first) return [];
    const message = `the same submit of ${first.ref} was answered with ${count(ids.length, 'intent')}: ${ids.join(', ')}`;
    return [{ rule: 'I2' as const, message, story: stories.of(first) ?? null, lines: inOrder(same.map(clientLine)) }];
  });
}

function twoForOneStep({ all }: Stories): Finding[] {
  const owners = new Map<string, Story>();
  return all.flatMap((story) => {
    const { row } = story;
    if (row?.stepId == null) return [];
    const step = JSON.stringify([row.tenant, row.runId, row.stepId, row.tool]);
    const owner = owners.get(step);
    owners.set(step, owner ?? story);
    return owner
      ? [
          {
            rule: 'I2' as const,
            message: `step ${row.stepId} of ${row.tool} has two intents, ${owner.id} as well`,
            story,
          },
        ]
      : [];
  });
}

function severalBodies(story: Story): Finding[] {
  const bodies = new Set(story.requests.map(({ argsHash }) => argsHash));
  if (bodies.size < 2) return [];
  return [{ rule: 'I10', message: `requests with ${bodies.size} different bodies on the wire`, story }];
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
