import { type Finding, perStory } from './finding.js';
import { saysNotExecuted } from './steps.js';
import type { EffectLine, Story } from './story.js';
import { count } from './wording.js';

/** I1: at most one effect; beyond what the upstream declares, more only where the log tells of them. */
export const atMostOneEffect = perStory((story) => {
  const { effects } = effectsOf(story.effects);
  if (effects <= 1 || isRead(story)) return [];
  const guarantee = story.tool?.guarantee ?? 'of no known tool';
  if (!story.beyondLimits || story.tool?.guarantee === 'none') {
    return [{ rule: 'I1', message: `${count(effects, 'effect')}, at most one may be (${guarantee})`, story }];
  }
  const untold = whatIsUntold(story);
  return untold === null ? [] : [{ rule: 'I1', message: `${count(effects, 'effect')}, and ${untold}`, story }];
});

/** I4: the state says what happened, no more and no less. */
export const stateTellsEffects = perStory((story) => [
  ...stateAndEffects(story),
  ...receipt(story),
  ...verdictsAndEffects(story),
  ...undecidedEnd(story),
]);

/** Effects of one intent; parts of one effect count once, and `whole` is false where some of them never came. */
export function effectsOf(lines: readonly EffectLine[]): { readonly effects: number; readonly whole: boolean } {
  const parts = new Map<unknown, number>();
  let effects = 0;
  let of = 0;
  for (const { answer } of lines) {
    if (typeof answer?.['parts'] !== 'number') effects += 1;
    else {
      parts.set(answer['part'], (parts.get(answer['part']) ?? 0) + 1);
      of = Math.max(of, answer['parts']);
    }
  }
  return { effects: effects + Math.max(0, ...parts.values()), whole: parts.size >= of };
}

export function isRead({ row, tool }: Story): boolean {
  return (tool?.effect ?? row?.effect) === 'read';
}

/** A person said that it happened. */
export function saidByPerson({ events }: Story): boolean {
  return events.some(({ type, data }) => type === 'resolved' && data['outcome'] === 'executed');
}

function corrections({ events }: Story): readonly Readonly<Record<string, unknown>>[] {
  return events.filter(({ type }) => type === 'corrected').map(({ data }) => data);
}

function whatIsUntold(story: Story): string | null {
  const told = corrections(story).filter(({ finding }) => finding === 'second_effect' || finding === 'executed');
  if (told.length === 0) return 'no correction tells of the second one';
  const ruledOut = story.log.attempts.some(({ before }) => before.some(({ verdict }) => verdict === 'absent'));
  return ruledOut && told.every(({ breach }) => breach == null) ? 'no correction names the declaration it broke' : null;
}

function stateAndEffects(story: Story): Finding[] {
  const { state } = story.log;
  const { effects, whole } = effectsOf(story.effects);
  const wrong = (message: string): Finding[] => [{ rule: 'I4', message, story }];
  if (isRead(story)) return effects === 0 ? [] : wrong(`a read had ${count(effects, 'effect')}`);

  if (story.log.reason === 'operator' && !saidByPerson(story)) {
    return wrong('committed on the word of a person, and no resolution of one is in the log');
  }
  const told = corrections(story);
  if (effects === 0) {
    if (told.length > 0) return wrong(`a correction says ${String(told[0]?.['finding'])}, and there is no effect`);
    return state === 'committed' && !isOperators(story) ? wrong('committed, and there is no effect') : [];
  }
  if (state === 'committed') {
    if (isOperators(story)) return [];
    if (!whole) return wrong('committed, and parts of the effect are missing');
    const second = told.some(({ finding }) => finding === 'second_effect');
    return second && effects === 1 ? wrong('a correction tells of a second effect, and there is one only') : [];
  }
  if (story.beyondLimits || told.length > 0) return [];
  if (saysNotExecuted(state)) return wrong(`${state}, and there is ${count(effects, 'effect')}`);
  return state === 'dead_lettered' && saysNothingHappened(story)
    ? wrong(`a dead letter that says nothing happened so far, and there is ${count(effects, 'effect')}`)
    : [];
}

/** Committed on the word of a person. */
function isOperators({ log }: Story): boolean {
  return log.state === 'committed' && log.reason === 'operator';
}

/** Every attempt was ruled out, so the agent is told that it did not happen so far. */
function saysNothingHappened({ log }: Story): boolean {
  if (log.reason === 'partial_effect') return false;
  return log.attempts.every(({ verdict }) => verdict === 'not_executed' || verdict === 'absent');
}

function receipt(story: Story): Finding[] {
  const commit = story.events.find(({ type }) => type === 'committed');
  if (!commit || commit.data['proof'] === 'operator' || isRead(story) || story.effects.length === 0) return [];
  const shown = textsIn(commit.data['data']);
  const ids = story.effects.map(({ externalId }) => externalId).join(', ');
  if (shown.length === 0) return [{ rule: 'I4', message: `committed without a receipt of its effect (${ids})`, story }];
  if (story.effects.some((effect) => isShownBy(effect, shown))) return [];
  return [{ rule: 'I4', message: `the receipt (${shown.join(', ')}) is not that of its effect (${ids})`, story }];
}

/** "It did not happen" needs proof for each attempt, and a person's word is one. */
function undecidedEnd(story: Story): Finding[] {
  const { state, attempts } = story.log;
  if (!saysNotExecuted(state) || isRead(story)) return [];
  if (story.events.some(({ type, data }) => type === 'resolved' && data['outcome'] === 'not_executed')) return [];
  const open = attempts.find(({ verdict }) => verdict !== 'not_executed' && verdict !== 'absent');
  if (!open) return [];
  return [{ rule: 'I4', message: `${state}, and attempt ${open.number} is ${open.verdict}`, story }];
}

/** It names the effect; where the upstream's own answer does not, having something of that answer in common must do. */
export function isShownBy({ externalId, answer }: EffectLine, shown: readonly string[]): boolean {
  if (shown.includes(externalId)) return true;
  const answered = textsIn(answer);
  return answered.length > 0 && !answered.includes(externalId) && answered.some((text) => shown.includes(text));
}

export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** What is recorded as not executed must not have taken effect, whatever became of the intent. */
function verdictsAndEffects(story: Story): Finding[] {
  if (story.beyondLimits || isRead(story)) return [];
  return story.events.flatMap(({ type, data }) => {
    if (type !== 'attempt_not_executed') return [];
    const attempt = story.log.attempts.find(({ number }) => number === data['attempt']);
    const effect = story.effects.find(({ attemptId }) => attemptId !== null && attemptId === attempt?.attemptId);
    if (!effect) return [];
    const message = `attempt ${attempt?.number} is recorded as not executed (${String(data['cause'])}), and it had effect ${effect.externalId}`;
    return [{ rule: 'I4' as const, message, story }];
  });
}
