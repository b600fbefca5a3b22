import { type Command, type Intent, type IntentEvent, isTerminal, keepsKey } from '@intendant/intent';
import { demand } from './broken.js';
import type { Bounds, World } from './world.js';

/** What is known about the world against what the intent says. @throws Broken */
export function checkWorld({ requests, now }: World, intent: Intent, { terms, declared }: Bounds): void {
  const effects = requests.filter(({ is }) => is === 'done').length;
  const second = intent.corrections.some((c) => c.finding === 'second_effect');
  demand(!second || effects > 1, 'I4', `a second effect is on record, and there is ${effects === 1 ? 'one' : 'none'}`);
  demand(intent.corrections.length === 0 || effects > 0, 'I4', 'an effect is on record, and there is none');
  demand(intent.state !== 'committed' || effects > 0, 'I4', 'committed without an effect');
  if (declared === 'kept') {
    demand(effects <= 1, 'I1', `${effects} effects`);
    if (isTerminal(intent) && intent.state !== 'committed') {
      demand(effects === 0, 'I11', `${intent.state}, and there is an effect`);
    }
  } else if (keepsKey(terms) && now < (intent.attempts[0]?.startedAt ?? now) + terms.retentionMs) {
    demand(effects <= 1, 'I1', `${effects} effects under a key that is remembered`);
  }
}

/** Nothing earlier may still take effect, and there is proof that nothing did, or a key that will be remembered. @throws Broken */
export function checkStart(world: World, intent: Intent, absentUpTo: number, at: number, bounds: Bounds): void {
  const { terms, declared } = bounds;
  const next = intent.attempts.length + 1;
  demand(intent.state === 'authorized', 'I6', `attempt ${next} was started in ${intent.state}`);
  const { basis } = intent as Extract<Intent, { state: 'authorized' }>;
  if (declared === 'kept') {
    const working = world.requests.findIndex(({ is }) => is === 'working' || is === 'promised');
    demand(working < 0, 'I6', `attempt ${next} was started while attempt ${working + 1} may still take effect`);
    const leaseOver = world.now - (terms.leaseMs - bounds.skew);
    const about = world.dispatchers.find((d) => d.at === 'started' && d.since > leaseOver);
    demand(!about, 'I6', `attempt ${next} was started while attempt ${about?.attempt} may still be sent`);
  }
  const first = intent.attempts[0];
  if (!first) return;
  if (basis === 'same_key') {
    const holds = keepsKey(terms) && at + terms.leaseMs <= first.startedAt + terms.retentionMs;
    demand(holds, 'I7', `attempt ${next} relies on a key that may be forgotten`);
  } else if (basis === 'absent') {
    // One that did not leave, or was refused, needs no absence; the others do, and those from before still hold.
    const open = world.requests.findIndex(({ is }, i) => i >= absentUpTo && is !== 'none' && is !== 'refused');
    demand(open < 0, 'I7', `attempt ${next} relies on absences that say nothing about attempt ${open + 1}`);
  } else {
    const possible = world.requests.findIndex(({ is }) => is === 'done' || is === 'repeated' || is === 'lost');
    demand(possible < 0, 'I7', `attempt ${next} relies on a refusal, and attempt ${possible + 1} was not refused`);
  }
}

/** An answer "absent" that was asked for after the settle time, and late enough after the one before it. */
function provesAbsence(command: Command, intent: Intent, absences: number, { terms }: Bounds): boolean {
  if (command.type !== 'record_lookup' || command.answer.kind !== 'absent' || intent.state !== 'unknown') return false;
  if (terms.lookup !== 'authoritative' || terms.guarantee === 'none') return false;
  const settled = intent.cause === 'replay_requested' ? intent.settleAt : intent.since + terms.settleMs;
  const spaced = absences === 0 || command.askedAt >= (intent.absentAt ?? 0) + terms.spacingMs;
  return command.askedAt >= settled && spaced;
}

/** How many absences prove something after an event. */
export function absencesAfter(
  event: IntentEvent,
  absences: number,
  command: Command,
  intent: Intent,
  bounds: Bounds,
): number {
  if (event.type === 'outcome_unknown' || event.type === 'replay_requested' || event.type === 'accepted') return 0;
  if (event.type !== 'lookup_absent') return absences;
  return Math.min(absences + (provesAbsence(command, intent, absences, bounds) ? 1 : 0), 2);
}
