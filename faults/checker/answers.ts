import type { ClientEntry } from '../history/clients.js';
import { effectsOf, isRead, isShownBy, saidByPerson, textsIn } from './effects.js';
import { clockMs, type Finding, perStory } from './finding.js';
import { saysNotExecuted } from './steps.js';
import type { Story } from './story.js';
import { duration } from './wording.js';

/** I11: what was told is so: "not executed" stays true for ever, and "executed" is true when it is said. */
export const answersAreTrue = perStory((story) => [
  ...toldNotExecuted(story),
  ...toldExecuted(story),
  ...toldOfOthers(story),
  ...toldDecided(story),
]);

function toldNotExecuted(story: Story): Finding[] {
  const first = story.effects[0];
  // What comes after the time that the upstream declares is its own breach, and told by a correction where it is seen.
  if (!first || story.beyondLimits || isRead(story)) return [];
  const told = earliest([
    ...story.clients.flatMap((entry) =>
      saysNever(entry) ? [{ at: entry.at, what: `an answer to ${entry.operation}` }] : [],
    ),
    ...story.events.flatMap(({ type, committedAt }) =>
      saysNotExecuted(type) ? [{ at: committedAt, what: `the public event ${type}` }] : [],
    ),
  ]);
  if (!told) return [];
  const after = first.at - told.at;
  const when = after > 0 ? `${duration(after)} before` : `${duration(-after)} after`;
  const message = `${told.what} said that it did not happen, ${when} effect ${first.externalId}`;
  return [{ rule: 'I11', message, story }];
}

/** What a client is shown, and what is published, is of this intent's own effect. */
function toldOfOthers(story: Story): Finding[] {
  if (isRead(story) || saidByPerson(story) || story.effects.length === 0) return [];
  const shown = [
    ...story.clients.map(({ answer, operation }) => ({ what: `an answer to ${operation}`, data: answer?.data })),
    ...story.published.flatMap(({ type, data }) =>
      type === 'intendant.intent.committed' ? [{ what: 'the published end', data: receiptOf(data) }] : [],
    ),
  ];
  const wrong = shown.find(({ data }) => {
    const texts = textsIn(data);
    return texts.length > 0 && !story.effects.some((effect) => isShownBy(effect, texts));
  });
  if (!wrong) return [];
  const message = `${wrong.what} shows ${textsIn(wrong.data).join(', ')}, which is of no effect of it`;
  return [{ rule: 'I11', message, story }];
}

function receiptOf(event: unknown): unknown {
  return (event as { readonly data?: unknown } | null | undefined)?.data;
}

function saysNever({ phase, answer }: ClientEntry): boolean {
  if (phase !== 'answered' || !answer || answer.intentId === null) return false;
  return answer.outcome === 'not_executed' || (answer.outcome === null && saysNotExecuted(answer.status ?? ''));
}

/** A person who was told that a decision counts finds it in the log, or one that it came after. */
function toldDecided({ clients, events, ...story }: Story): Finding[] {
  const has = (type: string) => events.some((event) => event.type === type);
  const lost = clients.find(
    ({ phase, operation, answer }) =>
      phase === 'answered' &&
      answer?.httpStatus === 200 &&
      ((operation === 'approve' && !has('approved')) || (operation === 'refuse' && !has('refused'))),
  );
  if (!lost) return [];
  const message = `an answer to ${lost.operation} said that it is done, and the log has none`;
  return [{ rule: 'I11', message, story: { clients, events, ...story } }];
}

function earliest<T extends { readonly at: number }>(entries: readonly T[]): T | undefined {
  return [...entries].sort((a, b) => a.at - b.at)[0];
}

function toldExecuted(story: Story): Finding[] {
  if (isRead(story) || saidByPerson(story)) return [];
  const { effects } = effectsOf(story.effects);
  const first = story.effects[0];
  const told = story.clients.find(
    ({ phase, answer, at }) =>
      phase === 'answered' && answer?.outcome === 'executed' && (!first || first.at > at + clockMs),
  );
  if (!told) return [];
  const truth =
    effects === 0 || !first ? 'there is no effect' : `the effect came ${duration(first.at - told.at)} later`;
  return [{ rule: 'I11', message: `an answer to ${told.operation} said that it was executed, and ${truth}`, story }];
}
