import type { Intent } from '@intendant/intent';
import type { LedgerEntry } from '../../examples/upstream/server.js';
import type { Stack } from './stack.js';

/**
 * Everything in which log, read model and the upstream's ledger contradict each other, as sentences: gaps in a
 * stream, a wire request that was sent twice or that no attempt stands for, a terminal state that the ledger denies.
 */
export async function audit(stack: Stack, ledger: readonly LedgerEntry[] = stack.upstream.ledger()): Promise<string[]> {
  const found = (await stack.store.verify()).map((difference) => `read model: ${JSON.stringify(difference)}`);
  const attempts = new Set<string>();
  for (const { intentId } of await stack.store.intents.list({ limit: 10_000 })) {
    const history = await stack.store.intents.history(intentId);
    if (history.some(({ version }, index) => version !== index + 1)) found.push(`${intentId}: versions have a gap`);
    const intent = await stack.store.intents.load(intentId);
    if (!intent) continue;
    for (const { attemptId } of intent.attempts) attempts.add(attemptId);
    found.push(...contradictions(intent, ledger));
  }
  const sent = ledger.flatMap((entry) =>
    entry.kind === 'request' && entry.attemptId !== null ? [entry.attemptId] : [],
  );
  for (const attemptId of new Set(sent)) {
    const times = sent.filter((id) => id === attemptId).length;
    if (times > 1) found.push(`attempt ${attemptId} was on the wire ${times} times`);
    if (!attempts.has(attemptId)) found.push(`attempt ${attemptId} was on the wire without being in the log`);
  }
  return found;
}

function contradictions(intent: Intent, ledger: readonly LedgerEntry[]): string[] {
  const { intentId, key, tool, terms } = intent.proposal;
  if (terms.effect === 'read') return [];
  const effects = ledger.filter((entry) => entry.kind === 'effect' && entry.key === key).length;
  const says = `${tool} ${intentId} is ${intent.state}, and the ledger has ${effects} effects`;
  switch (intent.state) {
    case 'committed':
      return effects === 1 || intent.proof === 'operator' ? [] : [says];
    case 'failed':
    case 'denied':
    case 'cancelled':
    case 'expired':
      return effects === 0 || intent.corrections.length > 0 ? [] : [says];
    case 'dead_lettered':
      return effects <= 1 ? [] : [says];
    case 'pending':
    case 'awaiting_approval':
    case 'authorized':
    case 'dispatching':
    case 'accepted':
    case 'unknown':
      return [`${says}: not settled`];
  }
}
