import type { ClientEntry } from './clients.js';
import type { DangerousState, Evidence } from './evidence.js';

/** What agents and operators did and were told. */
export const statesOfAnswers: readonly DangerousState[] = [
  {
    name: 'duplicate submit',
    meaning: 'A step was submitted again and answered with the intent of the first time.',
    count: ({ history }) => submits(history.clients).filter(({ answer }) => answer?.replayed).length,
  },
  {
    name: 'submits at the same time',
    meaning: 'Two submits of one step were under way at once, and both were answered with one intent.',
    count: atTheSameTime,
  },
  {
    name: 'conflict',
    meaning: 'A step was submitted with other arguments and refused.',
    count: ({ history }) =>
      submits(history.clients).filter(({ answer }) => answer?.code === 'idempotency_conflict').length,
  },
  {
    name: 'answer to a submit lost',
    meaning: 'The intent was recorded and whoever had submitted it was not told.',
    count: lostAnswers,
  },
  {
    name: 'submit refused for want of a service',
    meaning: 'A submit was told that something is away and that sending it again is safe.',
    count: ({ history }) => submits(history.clients).filter(({ answer }) => answer?.code === 'unavailable').length,
  },
  {
    name: 'told that the outcome is unknown',
    meaning: 'An answer said that it may or may not have happened.',
    count: ({ history }) => history.clients.filter(({ answer }) => answer?.outcome === 'unknown').length,
  },
  {
    name: 'cancel refused',
    meaning: 'A cancel came when only the outcome could be told.',
    count: ({ history }) =>
      history.clients.filter(({ operation, answer }) => operation === 'cancel' && answer?.code === 'conflict').length,
  },
];

function submits(clients: readonly ClientEntry[]): ClientEntry[] {
  return clients.filter(({ operation, phase }) => operation === 'submit' && phase !== 'invoke');
}

/** Requests with their answers, by request id. */
function answeredSpans(clients: readonly ClientEntry[]): { from: number; to: number; intentId: string }[] {
  const begun = new Map(clients.flatMap((e) => (e.phase === 'invoke' ? [[e.requestId, e.at] as const] : [])));
  return submits(clients).flatMap(({ at, requestId, answer }) => {
    const from = begun.get(requestId);
    return from !== undefined && answer?.intentId ? { from, to: at, intentId: answer.intentId } : [];
  });
}

function atTheSameTime({ history }: Evidence): number {
  const spans = answeredSpans(history.clients).sort((a, b) => a.from - b.from);
  const last = new Map<string, number>();
  return spans.filter(({ from, to, intentId }) => {
    const end = last.get(intentId) ?? Number.NEGATIVE_INFINITY;
    last.set(intentId, Math.max(end, to));
    return from < end;
  }).length;
}

/** Submits that were not answered, of steps whose intent was recorded between asking and giving up. */
function lostAnswers({ history }: Evidence): number {
  const recorded = new Map(
    history.database.events.flatMap((e) => (e.type === 'recorded' ? [[refOf(e.data), e.committedAt] as const] : [])),
  );
  const begun = new Map(history.clients.flatMap((e) => (e.phase === 'invoke' ? [[e.requestId, e.at] as const] : [])));
  return submits(history.clients).filter(({ phase, ref, requestId, at }) => {
    const committedAt = recorded.get(ref);
    const from = begun.get(requestId);
    return (
      phase === 'unanswered' &&
      from !== undefined &&
      committedAt !== undefined &&
      from < committedAt &&
      committedAt < at
    );
  }).length;
}

/** What the rig calls the intent. */
function refOf(recorded: Readonly<Record<string, unknown>>): string {
  const { proposal } = recorded as { proposal?: { args?: { ref?: unknown } } };
  return String(proposal?.args?.ref ?? '');
}
