import type { OperatorIdentity } from '@intendant/credentials';
import { type Command, decide, type Intent } from '@intendant/intent';
import type { DeadMessage, IntentListing, Store } from '@intendant/store';
import { rejected } from './command-answer.js';
import { tenantToList } from './tenants.js';

/** A message that could not be admitted, without its payload. */
export interface DeadMessageListing extends Pick<DeadMessage, 'id' | 'subject' | 'stepId' | 'error' | 'receivedAt'> {
  /** Who sent it, where that could be verified. */
  readonly sender: { readonly tenant: string; readonly runId: string; readonly user: string } | null;
}

export interface DeadLetterPage {
  readonly intents: readonly IntentListing[];
  readonly messages: readonly DeadMessageListing[];
  readonly nextCursor: string | null;
}

/** One page over both kinds, newest first: both have ids that sort by time. */
export async function listDeadLetters(
  store: Store,
  operator: OperatorIdentity,
  limit: number,
  before: string | undefined,
): Promise<DeadLetterPage> {
  const tenant = tenantToList(operator, undefined);
  const intents = await store.intents.list({ state: 'dead_lettered', tenant, before, limit: limit + 1 });
  const messages = await store.deadMessages.list({ tenant, before, limit: limit + 1 });
  const ids = [...intents.map((i) => i.intentId), ...messages.map((m) => m.id)].sort().reverse();
  const last = ids[limit - 1];
  const onPage = (id: string) => last === undefined || id >= last;
  return {
    intents: intents.filter((i) => onPage(i.intentId)),
    messages: messages.filter((m) => onPage(m.id)).map(listing),
    nextCursor: ids.length > limit ? (last ?? null) : null,
  };
}

export function listing({ id, subject, stepId, error, receivedAt, session }: DeadMessage): DeadMessageListing {
  const sender = session && { tenant: session.tenant, runId: session.runId, user: session.user };
  return { id, subject, stepId, error, receivedAt, sender };
}

export interface Action {
  readonly action: string;
  readonly possible: boolean;
  /** Why not, and what else; null where it is possible. */
  readonly reason: string | null;
}

export function actionsOnMessage({ session, intentId, dismissal }: DeadMessage): Action[] {
  const unknownSender = session ? null : 'Nobody could say who sent it, so it can be read but not replayed.';
  const dismissed = dismissal && `${dismissal.by} dismissed it at ${dismissal.at}: ${dismissal.reason}`;
  const closed = intentId === null ? dismissed : `It was replayed into intent ${intentId}.`;
  return [
    { action: 'replay', possible: unknownSender === null, reason: unknownSender },
    { action: 'dismiss', possible: closed === null, reason: closed },
  ];
}

/** What the domain would accept now, asked without doing it. */
export function actionsOn(intent: Intent, by: string, now: number): Action[] {
  const evidence = { externalId: null, evidence: '' };
  const commands: readonly (readonly [string, Command])[] = [
    ['replay', { type: 'replay', by, reason: '' }],
    ['resolve executed', { type: 'resolve', by, outcome: 'executed', ...evidence }],
    ['resolve not_executed', { type: 'resolve', by, outcome: 'not_executed', ...evidence }],
  ];
  return commands.map(([action, command]) => {
    const decision = decide(command, intent, now);
    const reason = decision.kind === 'rejected' ? rejected(decision.reason, intent).message : null;
    return { action, possible: reason === null, reason };
  });
}
