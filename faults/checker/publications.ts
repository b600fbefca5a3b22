import type { PublishedEvent } from '../history/bus.js';
import type { History } from '../history/history.js';
import type { Finding, Rule } from './finding.js';
import { isPublic, isTerminal } from './steps.js';
import type { Stories, Story } from './story.js';
import { streamLostAt } from './streams.js';
import { count } from './wording.js';

/**
 * How long JetStream knows a message by its id, as the services make their streams. A message whose row in the outbox could
 * not be deleted for longer is sent again, and stored again: subscribers tell by its id that they know it.
 */
const duplicateMs = 120_000;

/** I9: what the log implies is published, and nothing else; nothing waits to be published at rest. */
export const logIsPublished: Rule = (history, stories) => [
  ...waiting(history),
  ...stories.all.flatMap((story) => [
    ...unpublished(story, history),
    ...invented(story),
    ...storedTwice(story, false, history),
  ]),
  ...stray(stories),
];

/** I12: whoever follows an intent hears of its end once. */
export const oneEndIsTold: Rule = (history, { all }) =>
  all.flatMap((story) => {
    const ends = new Set(story.published.filter(isEnd).map(({ msgId }) => msgId));
    if (ends.size > 1) {
      return [{ rule: 'I12', message: `${count(ends.size, 'terminal event')}: ${[...ends].join(', ')}`, story }];
    }
    return storedTwice(story, true, history);
  });

function waiting({ database: { outbox } }: History): Finding[] {
  if (outbox.length === 0) return [];
  const lines = outbox
    .slice(0, 20)
    .map(({ msgId, subject }) => ({ at: null, who: 'outbox', what: `${msgId} ${subject}` }));
  return [{ rule: 'I9', message: `${count(outbox.length, 'message')} still in the outbox`, story: null, lines }];
}

function unpublished(story: Story, history: History): Finding[] {
  const lostAt = streamLostAt(history, 'INTENDANT_EVENTS');
  return story.events.flatMap(({ type, version, committedAt }) => {
    if (!isPublic(type)) return [];
    const found = story.published.filter(({ msgId }) => msgId === `${story.id}-${version}`);
    const heard = found.some((event) => event.stored);
    if (heard || committedAt <= lostAt) return [];
    const message = `${type}, version ${version}, is not in the stream${found.length > 0 ? ', though it was heard' : ''}`;
    return [{ rule: 'I9' as const, message, story }];
  });
}

function invented(story: Story): Finding[] {
  return story.published.flatMap((event) => {
    const wrong = whatIsWrong(event, story);
    return wrong === null
      ? []
      : [{ rule: 'I9' as const, message: `${event.type} with id ${event.msgId} was published: ${wrong}`, story }];
  });
}

function whatIsWrong(
  { msgId, subject, type, version }: PublishedEvent,
  { id, row, events, log }: Story,
): string | null {
  const name = nameOf(type);
  if (name === 'progress') {
    const known = log.attempts.some(({ number }) => msgId === `${id}-progress-${number}`);
    return known ? null : 'there is no such attempt';
  }
  const event = events.find((each) => each.version === version);
  if (!event) return `the log has no version ${version}`;
  if (event.type !== name || !isPublic(name)) return `version ${version} of the log is ${event.type}`;
  if (msgId !== `${id}-${version}`) return `its id should be ${id}-${version}`;
  if (!row) return null;
  const expected = `intendant.events.${row.tenant}.${row.runId}.${id}.${name}`;
  return subject === expected ? null : `its subject is ${subject} and should be ${expected}`;
}

function nameOf(type: string): string {
  return type.replace(/^intendant\.intent\./, '');
}

function isEnd({ type }: PublishedEvent): boolean {
  return isTerminal(nameOf(type));
}

/** The stream has one message id in two places, so a subscriber hears the same twice. */
function storedTwice(story: Story, ends: boolean, { meta }: History): Finding[] {
  const times = new Map<string, number>();
  for (const event of story.published) {
    const since = story.events.find(({ version }) => version === event.version)?.committedAt ?? 0;
    if (meta.frozenAt - since > duplicateMs) continue;
    if (event.stored && event.msgId !== null && isEnd(event) === ends) {
      times.set(event.msgId, (times.get(event.msgId) ?? 0) + 1);
    }
  }
  return [...times].flatMap(([msgId, n]) =>
    n === 1
      ? []
      : [{ rule: ends ? ('I12' as const) : ('I9' as const), message: `${msgId} is in the stream ${n} times`, story }],
  );
}

function stray({ strayPublished }: Stories): Finding[] {
  return strayPublished.map(({ msgId, type, intentId }) => ({
    rule: 'I9' as const,
    message: `${type} with id ${msgId} was published, and there is no intent ${intentId}`,
    story: null,
    lines: [],
  }));
}
