import type { History } from '../history/history.js';
import { hasAgreed } from './approvals.js';
import { type Finding, perStory, type Rule } from './finding.js';
import { restedAt } from './log.js';
import { deadLetterReasons, isAtRest } from './steps.js';
import type { Story } from './story.js';
import { count, duration } from './wording.js';

/** I3: at the end every intent is terminal, or waits for a person with a reason. */
export const everythingSettles = perStory((story, { meta }) => {
  const { log, row } = story;
  const state = row?.state ?? log.state;
  if (state === 'awaiting_approval') return waitsTooLong(story, meta);
  if (!isAtRest(state)) {
    const since = log.entered ? `, since ${duration(meta.frozenAt - log.entered.committedAt)} before the end` : '';
    return [
      { rule: 'I3', message: `still ${state} ${duration(meta.frozenAt - meta.healedAt)} after healing${since}`, story },
    ];
  }
  const reason = row?.reason ?? null;
  if (state !== 'dead_lettered' || (reason !== null && deadLetterReasons.has(reason))) return [];
  return [
    {
      rule: 'I3',
      message: `a dead letter with ${reason === null ? 'no reason' : `the unknown reason ${reason}`}`,
      story,
    },
  ];
});

/** People may take the time that they were given, and no longer; what they have agreed to waits for nobody. */
function waitsTooLong(story: Story, { frozenAt, boundMs }: History['meta']): Finding[] {
  const { agreed } = story.log;
  const newest = agreed?.requests.at(-1);
  const stuck = (message: string): Finding[] => [{ rule: 'I3', message, story }];
  if (!agreed || !newest) return stuck('awaiting_approval, and nobody was asked');
  if (hasAgreed(newest, agreed)) return stuck('still awaiting_approval, and all have agreed');
  const over = frozenAt - newest.expiresAt;
  return over > boundMs ? stuck(`still awaiting_approval ${duration(over)} after the time for it was over`) : [];
}

/** I14: everything that came to rest did so within the bound after healing. */
export const settlesInTime = perStory((story, { meta }) => {
  const at = restedAt(story.log);
  const late = at === null ? 0 : at - meta.healedAt - meta.boundMs;
  if (late <= 0) return [];
  const message = `${story.log.state} ${duration(late + meta.boundMs)} after healing, ${duration(meta.boundMs)} is the bound`;
  return [{ rule: 'I14', message, story }];
});

/** I13: nothing is left lying on the bus, in transactions or dead. */
export const nothingLeaks: Rule = (history) => [
  ...history.bus.consumers.flatMap(({ stream, name, ackPending, pending }) => {
    if (ackPending === 0 && pending === 0) return [];
    return leak(`consumer ${name} of ${stream} has ${ackPending} not acknowledged and ${pending} not delivered`);
  }),
  ...history.database.sessions.flatMap(({ application, total, inTransaction }) =>
    inTransaction === 0
      ? []
      : leak(`${inTransaction} of ${count(total, 'session')} of ${application} in a transaction`),
  ),
  ...history.processes.flatMap(({ name, expected, found }) =>
    expected === found ? [] : leak(`${name} is ${found}, and should be ${expected}`),
  ),
  ...crashes(history),
];

function leak(message: string): Finding[] {
  return [{ rule: 'I13', message, story: null, lines: [] }];
}

/** An error at a fault point may end a process, once; whatever is ended in order is not counted as a crash at all. */
function crashes({ processes, faults }: History): Finding[] {
  return processes.flatMap(({ name, crashes: n, errors }) => {
    const planned = faults.filter(
      ({ target, kind, happened, phase }) =>
        target === name && kind === 'fault_point' && phase === 'begin' && happened !== false,
    ).length;
    if (n <= planned) return [];
    const lines = errors.map((what) => ({ at: null, who: name, what }));
    return [{ rule: 'I13' as const, message: `${name} ended by itself ${count(n, 'time')}`, story: null, lines }];
  });
}
