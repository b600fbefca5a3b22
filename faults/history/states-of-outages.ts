import type { DangerousState, Evidence } from './evidence.js';
import { type AttemptTrace, isOpenAt, type Outage } from './traces.js';

/** Between the making of an id and the time that is recorded with it, in ms; offsets are further apart. */
const idAgeMs = 400;

/** An answer that is cut off belongs to a write that was committed this shortly before, in ms. */
const justBeforeMs = 250;

/** What was broken, and what it met. */
export const statesOfOutages: readonly DangerousState[] = [
  {
    name: 'ambiguous commit',
    meaning: 'The connection was cut after PostgreSQL had committed and before it could say so.',
    count: ({ history, outages }) =>
      outages.filter(
        (cut) =>
          cutsAnswer(cut, 'postgres') &&
          cut.detail['after'] === 'append' &&
          history.database.events.some(({ committedAt }) => isJustBefore(committedAt, cut.from)),
      ).length,
  },
  {
    name: 'ambiguous publish',
    meaning: 'The connection was cut after a message was sent and before NATS could acknowledge it.',
    count: ({ outages }) =>
      outages.filter((cut) => cutsAnswer(cut, 'nats') && cut.detail['after'] === 'HPUB intendant.').length,
  },
  {
    name: 'published twice',
    meaning: 'A public event was sent again since its acknowledgement was lost.',
    count: ({ history }) => history.bus.published.filter(({ heard }) => heard > 1).length,
  },
  {
    name: 'request cut on its way',
    meaning: 'The connection to the upstream was cut while a request was under way.',
    count: ({ outages }) => outages.filter(({ kind, target }) => kind === 'cut' && target.endsWith('>upstream')).length,
  },
  {
    name: 'dispatcher killed with an attempt open',
    meaning: 'A dispatcher was killed, and an attempt that was open then was given up when its lease ended.',
    count: (evidence) => during(evidence, 'dispatcher/', ['kill', 'fault_point'], orphanedAt),
  },
  {
    name: 'paused beyond a lease',
    meaning: 'A dispatcher was stopped with an attempt open and went on after the lease of it had ended.',
    count: (evidence) =>
      during(
        evidence,
        'dispatcher/',
        ['pause', 'fault_point'],
        (attempt, { from, to }) => isOpenAt(attempt, from) && attempt.leaseUntil < to && Number.isFinite(to),
      ),
  },
  {
    name: 'event loop blocked with an attempt open',
    meaning: 'A dispatcher did nothing for a while, with an attempt open.',
    count: (evidence) => during(evidence, 'dispatcher/', ['block'], (attempt, { from }) => isOpenAt(attempt, from)),
  },
  {
    name: 'stopped in order with an attempt open',
    meaning: 'A dispatcher was told to end, with an attempt open.',
    count: (evidence) => during(evidence, 'dispatcher/', ['stop'], (attempt, { from }) => isOpenAt(attempt, from)),
  },
  {
    name: 'reconciler gone with an outcome open',
    meaning: 'A reconciler was killed or stopped for long while an outcome was unknown.',
    count: ({ traces, outages }) =>
      outages.filter(
        ({ kind, target, from }) =>
          target.startsWith('reconciler/') &&
          ['kill', 'pause', 'fault_point'].includes(kind) &&
          traces.some(({ attempts, events }) => {
            const unknown = attempts.findLast(({ endedAt }) => endedAt < from)?.end;
            const after = events.find(({ committedAt }) => committedAt >= from);
            return unknown?.type === 'outcome_unknown' && after !== undefined && after.type !== 'attempt_started';
          }),
      ).length,
  },
  {
    name: 'killed at a fault point',
    meaning: 'A process died, stalled or failed at a named point of its code.',
    count: ({ outages }) => outages.filter(({ kind }) => kind === 'fault_point').length,
  },
  {
    name: 'several rang for one intent',
    meaning: 'Dispatchers were rung for the same intent several times at once.',
    count: ({ outages }) =>
      outages.reduce((sum, { kind, detail }) => sum + (kind === 'echo' ? Number(detail['rung'] ?? 0) : 0), 0),
  },
  {
    name: 'rung again long after',
    meaning: 'Old announcements were delivered again, of intents that had gone on or were closed.',
    count: ({ outages }) =>
      outages.reduce((sum, { kind, detail }) => sum + (kind === 'ring' ? Number(detail['intents'] ?? 0) : 0), 0),
  },
  {
    name: 'NATS lost its store with work under way',
    meaning: 'What NATS held was gone, and intents were not closed.',
    count: (evidence) => withWork(evidence, ['nats.wipe', 'nats.delete_stream']),
  },
  {
    name: 'NATS turned back to an old store',
    meaning: 'NATS was started from an older copy, and intents were not closed.',
    count: (evidence) => withWork(evidence, ['nats.restore']),
  },
  {
    name: 'consumer deleted',
    meaning: 'The place of a service in its stream was deleted, and intents were not closed.',
    count: (evidence) => withWork(evidence, ['nats.delete_consumer']),
  },
  {
    name: 'NATS away with work under way',
    meaning: 'NATS was killed, stopped or paused, and intents were not closed.',
    count: (evidence) => withWork(evidence, ['nats.kill', 'nats.stop', 'nats.pause', 'nats.leader']),
  },
  {
    name: 'leader of the cluster lost',
    meaning: 'The node that led a stream was killed, and intents were not closed.',
    count: (evidence) => withWork(evidence, ['nats.leader']),
  },
  {
    name: 'PostgreSQL crashed with an attempt open',
    meaning: 'PostgreSQL ended as in a power failure, and an attempt was on its way.',
    count: (evidence) => during(evidence, 'postgres', ['postgres.crash'], (a, { from }) => isOpenAt(a, from)),
  },
  {
    name: 'PostgreSQL away with an attempt open',
    meaning: 'PostgreSQL was stopped or paused, and an attempt was on its way.',
    count: (evidence) =>
      during(evidence, 'postgres', ['postgres.stop', 'postgres.pause'], (a, { from }) => isOpenAt(a, from)),
  },
  {
    name: 'database was read-only',
    meaning: 'PostgreSQL took no writes, and agents went on submitting.',
    count: (evidence) => withSubmits(evidence, 'postgres.read_only'),
  },
  {
    name: 'backends terminated',
    meaning: 'Sessions of services were ended by the server.',
    count: ({ outages }) =>
      outages.reduce(
        (sum, { kind, detail }) => sum + (kind === 'postgres.terminate' ? Number(detail['backends'] ?? 0) : 0),
        0,
      ),
  },
  {
    name: 'connections exhausted',
    meaning: 'PostgreSQL had no connection left, and agents went on submitting.',
    count: (evidence) => withSubmits(evidence, 'postgres.exhaust'),
  },
  {
    name: 'transaction held open',
    meaning: 'Another session held a lock on what services write, and agents went on submitting.',
    count: (evidence) => withSubmits(evidence, 'postgres.hold'),
  },
  {
    name: 'attempt started under a wrong clock',
    meaning: 'A dispatcher whose own clock is off started the attempt.',
    count: startedUnderWrongClock,
  },
  {
    name: 'half-open connection',
    meaning: 'Bytes of a connection were swallowed while it stayed open.',
    count: ({ outages }) => outages.filter(({ kind }) => kind === 'blackhole').length,
  },
  {
    name: 'partition',
    meaning: 'A process could not reach PostgreSQL, NATS or the upstream.',
    count: ({ outages }) => outages.filter(({ kind }) => kind === 'partition').length,
  },
];

/** How many attempts met an outage of these kinds. */
function during(
  { traces, outages }: Evidence,
  target: string,
  kinds: readonly string[],
  meets: (attempt: AttemptTrace, outage: Outage) => boolean,
): number {
  const fitting = outages.filter((each) => kinds.includes(each.kind) && each.target.startsWith(target));
  const attempts = traces.flatMap((trace) => trace.attempts);
  return fitting.reduce((sum, outage) => sum + attempts.filter((attempt) => meets(attempt, outage)).length, 0);
}

function orphanedAt(attempt: AttemptTrace, { from }: Outage): boolean {
  return isOpenAt(attempt, from) && attempt.end?.data['cause'] === 'lease_expired';
}

/** Outages of these kinds at a time when an intent was recorded and not at its end. */
function withWork({ traces, outages }: Evidence, kinds: readonly string[]): number {
  return outages.filter(
    ({ kind, from }) =>
      kinds.includes(kind) &&
      traces.some(({ events }) => {
        const first = events[0];
        const last = events.at(-1);
        return first !== undefined && last !== undefined && first.committedAt < from && from < last.committedAt;
      }),
  ).length;
}

/** Outages of this kind during which somebody submitted. */
function withSubmits({ history, outages }: Evidence, wanted: string): number {
  const submits = history.clients.filter(({ operation, phase }) => operation === 'submit' && phase === 'invoke');
  return outages.filter(({ kind, from, to }) => kind === wanted && submits.some(({ at }) => from <= at && at <= to))
    .length;
}

/** A cut of what the server says, such as the answer to a commit or a publish. */
function cutsAnswer({ kind, target, detail }: Outage, leg: string): boolean {
  const ordered = typeof detail['after'] === 'string';
  return kind === 'cut' && ordered && target.endsWith(`>${leg}`) && detail['direction'] === 'to_client';
}

function isJustBefore(at: number, time: number): boolean {
  return time - justBeforeMs < at && at <= time;
}

/** The id of an attempt tells the time of the process that started it. */
function startedUnderWrongClock({ traces, outages }: Evidence): number {
  const offsets = outages.flatMap(({ kind, target, detail }) =>
    kind === 'clock' && target.startsWith('dispatcher/') ? [Number(detail['offsetMs'])] : [],
  );
  const starts = traces.flatMap(({ events }) => events.filter(({ type }) => type === 'attempt_started'));
  return starts.filter(({ data, recordedAt }) => {
    const ahead = timeOfId(String(data['attemptId'])) - recordedAt;
    return offsets.some((offset) => Math.abs(ahead - offset) < idAgeMs);
  }).length;
}

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The time in a ULID (https://github.com/ulid/spec), which is that of the process that made it; NaN for other text. */
function timeOfId(id: string): number {
  if (!/^[0-9A-HJKMNP-TV-Z]{26}$/.test(id)) return Number.NaN;
  return [...id.slice(0, 10)].reduce((time, letter) => time * 32 + letters.indexOf(letter), 0);
}
