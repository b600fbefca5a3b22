import { intentIdPattern, Refusal, runIdPattern } from '@intendant/contracts';
import type { OperatorIdentity } from '@intendant/credentials';
import type { Intent } from '@intendant/intent';
import type { Run, Store } from '@intendant/store';
import type { Reader } from './authentication.js';

/** True where the operator works for that tenant, or for all. */
export function serves(operator: OperatorIdentity, tenant: string | null): boolean {
  return operator.tenant === '*' || operator.tenant === tenant;
}

/** The tenant to list: the operator's own, or the wanted one of somebody who serves all; undefined lists all. */
export function tenantToList(operator: OperatorIdentity, wanted: string | undefined): string | undefined {
  if (wanted !== undefined && !serves(operator, wanted)) {
    throw new Refusal('forbidden', `${operator.name} works for tenant ${operator.tenant}, not ${wanted}.`);
  }
  return operator.tenant === '*' ? wanted : operator.tenant;
}

/** An intent that the caller may see. @throws Refusal `not_found` for any other, whether it exists or not */
export async function visibleIntent(store: Store, reader: Reader, intentId: string): Promise<Intent> {
  const intent = intentIdPattern.test(intentId) ? await store.intents.load(intentId) : null;
  if (!intent || !maySee(reader, intent)) throw new Refusal('not_found', 'There is no such intent.');
  return intent;
}

/** A run that the caller may see. @throws Refusal `not_found` for any other, whether it exists or not */
export async function visibleRun(store: Store, reader: Reader, runId: string): Promise<Run> {
  const run = runIdPattern.test(runId) ? await store.runs.find(runId) : null;
  const may = (it: Run) =>
    reader.kind === 'operator'
      ? serves(reader.operator, it.tenant)
      : it.tenant === reader.session.tenant && it.id === reader.session.runId;
  if (!run || !may(run)) throw new Refusal('not_found', 'There is no such run.');
  return run;
}

function maySee(reader: Reader, { proposal }: Intent): boolean {
  if (reader.kind === 'operator') return serves(reader.operator, proposal.tenant);
  return proposal.tenant === reader.session.tenant && proposal.runId === reader.session.runId;
}
