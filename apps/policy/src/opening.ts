import { type OpenedRun, Refusal } from '@intendant/contracts';
import type { RunTokens, ServiceIdentity } from '@intendant/credentials';
import { type Ceiling, type CheckRestriction, readOpening, shownBudgets, termsOf } from '@intendant/policy';
import { newId } from '@intendant/runtime';
import { type Store, StoreUnavailable } from '@intendant/store';
import { parseObject } from './read-fields.js';

/** What the opening of runs goes by, beside what is asked for. */
export interface OpeningRules {
  /** The most that a key may give to a run. */
  readonly ceilingOf: (service: ServiceIdentity) => Ceiling;
  readonly checkRestriction: CheckRestriction;
}

/** Opens runs for trusted agent runtimes. */
export class RunOpening {
  constructor(
    private readonly store: Store,
    private readonly tokens: RunTokens,
    private readonly rules: OpeningRules,
  ) {}

  /** @throws Refusal when no run was opened, or when it is not known whether one was */
  async open(service: ServiceIdentity, payload: Uint8Array): Promise<OpenedRun> {
    const opening = readOpening(parseObject(payload));
    const { ttlMs, budgets } = termsOf(opening, this.rules.ceilingOf(service), this.rules.checkRestriction);
    const { user, permissions, profile, phase, sandbox, restrictions } = opening;
    const { tenant, name: openedBy } = service;
    const { id: runId, expiresAt } = await this.store.runs
      .open(
        { id: `run_${newId()}`, tenant, user, profile, permissions, phase, openedBy, sandbox, restrictions, budgets },
        ttlMs,
      )
      .catch(unavailable);
    const session = { tenant, runId, user, permissions, phase, profile, expiresAt };
    const token = await this.tokens.issue(sandbox ? { ...session, sandbox } : session);
    return { runId, token, expiresAt: new Date(expiresAt).toISOString(), budgets: shownBudgets(budgets) };
  }
}

function unavailable(error: unknown): never {
  if (!(error instanceof StoreUnavailable)) throw error;
  throw new Refusal(
    'unavailable',
    'The store did not answer. It is not known whether the run was opened; opening another is safe, since nobody has the token of this one.',
  );
}
