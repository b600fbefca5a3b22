import { clockMs, type Finding, type Rule } from './finding.js';
import type { RequestLine, Stories, Story } from './story.js';
import { ledgerLine } from './timeline.js';
import { count, duration } from './wording.js';

/** I5: nothing on the wire without an attempt that was committed before, and one request for each attempt. */
export const recordedBeforeSent: Rule = (_, stories) => [
  ...strays(stories),
  ...stories.all.flatMap((story) => [
    ...story.requests.flatMap((line) => judge(line, story, stories)),
    ...doubled(story),
    ...unasked(story),
  ]),
];

function strays({ strayLines }: Stories): Finding[] {
  return strayLines.flatMap((line) => {
    if (line.kind !== 'request' && line.kind !== 'effect') return [];
    const message = `a ${line.kind} with key ${line.key} and attempt id ${line.attemptId}, and no intent has either`;
    return [{ rule: 'I5' as const, message, story: null, lines: [ledgerLine(line)] }];
  });
}

function judge(line: RequestLine, story: Story, stories: Stories): Finding[] {
  const broken = (message: string): Finding[] => [{ rule: 'I5', message, story }];
  const attempt = stories.attempt(line.attemptId ?? '')?.attempt;
  if (!attempt) return broken(`a request with attempt id ${line.attemptId}, and the log has no such attempt`);
  const key = story.row?.key ?? null;
  if (line.key !== key) {
    return broken(`the request of attempt ${attempt.number} has key ${line.key}, and the intent has ${key}`);
  }
  const early = attempt.started.committedAt - line.at;
  if (early > clockMs) {
    return broken(
      `the request of attempt ${attempt.number} arrived ${duration(early)} before the attempt was committed`,
    );
  }
  if (attempt.neverSent !== null) {
    return broken(`a request of attempt ${attempt.number}, and the log says that no byte of it left`);
  }
  return [];
}

function doubled(story: Story): Finding[] {
  const times = new Map<string, number>();
  for (const { attemptId } of story.requests) {
    if (attemptId !== null) times.set(attemptId, (times.get(attemptId) ?? 0) + 1);
  }
  return [...times].flatMap(([attemptId, n]) =>
    n === 1 ? [] : [{ rule: 'I5' as const, message: `${count(n, 'request')} with the attempt id ${attemptId}`, story }],
  );
}

/** An effect that nobody can be seen asking for: the ledger is not whole, and no verdict may rest on it. */
function unasked(story: Story): Finding[] {
  const asked = new Set(story.requests.map(({ attemptId }) => attemptId));
  return story.effects.flatMap(({ attemptId, externalId }) =>
    asked.has(attemptId)
      ? []
      : [{ rule: 'I5' as const, message: `effect ${externalId} of attempt ${attemptId}, and no request of it`, story }],
  );
}
