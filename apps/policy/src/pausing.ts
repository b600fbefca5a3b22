import { setTimeout as wait } from 'node:timers/promises';
import { type Pause, type PauseScope, pausesKnownMs, Refusal, tenantPattern } from '@intendant/contracts';
import type { OperatorIdentity } from '@intendant/credentials';
import { covers } from '@intendant/policy';
import { type Store, StoreUnavailable } from '@intendant/store';
import type { ToolRegistry } from '@intendant/tools';
import { readFields } from './read-fields.js';

export interface BegunPause {
  readonly pause: Pause;
  /** Intents of the scope that it comes too late for: an attempt is open, was accepted, or has an unknown outcome. */
  readonly underWay: number;
}

/** Begins pauses; only this service knows every tool, and so what a scope is about. */
export class Pausing {
  constructor(
    private readonly store: Store,
    private readonly tools: ToolRegistry,
  ) {}

  /**
   * Resolves when every process has read of it.
   *
   * @throws Refusal for a scope that is not the operator's, or that no tool is within
   */
  async begin(operator: OperatorIdentity, payload: Uint8Array): Promise<BegunPause> {
    const {
      tenant = null,
      tool = null,
      namespace = null,
      upstream = null,
      reason,
      forMs,
    } = readFields(payload, ['tenant', 'tool', 'namespace', 'upstream', 'reason', 'forMs']);
    if (!reason || (forMs !== undefined && !/^[1-9]\d{0,12}$/.test(forMs))) {
      throw new Refusal('invalid_message', 'The message must have a reason, and forMs, if it is there, in digits.');
    }
    if (tenant !== null && !tenantPattern.test(tenant)) {
      throw new Refusal(
        'invalid_arguments',
        `There is no tenant ${JSON.stringify(tenant)}, so nothing would be paused.`,
        {
          problems: [{ pointer: '/tenant', expected: 'the name of a tenant', got: JSON.stringify(tenant) }],
        },
      );
    }
    const scope = inTenant({ tenant, tool, namespace, upstream }, operator);
    const within = this.toolsWithin(scope);
    const ms = forMs === undefined ? null : Number(forMs);
    const authorTenant = operator.tenant === '*' ? null : operator.tenant;
    try {
      const pause = await this.store.pauses.begin({
        ...scope,
        ...{ reason, author: operator.name, authorTenant, forMs: ms },
      });
      // Until then others may go by what they have read before.
      await wait(pausesKnownMs);
      return { pause, underWay: await this.store.pauses.underWay(scope.tenant, within) };
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      throw new Refusal(
        'unavailable',
        'The store did not answer. List the pauses to see whether this one has begun; beginning it again replaces it.',
      );
    }
  }

  private toolsWithin(scope: PauseScope): string[] {
    const within = this.tools.list().filter((tool) => covers(scope, tool));
    if (within.length > 0) return within.map(({ name }) => name);
    const unknown = scope.tool !== null && this.tools.get(scope.tool) === undefined;
    const near = unknown ? this.tools.suggest(scope.tool) : undefined;
    throw new Refusal(
      'invalid_arguments',
      `No tool is within that scope, so nothing would be paused.${near ? ` Did you mean ${near}?` : ''}`,
      { problems: [{ pointer: '', expected: 'a scope that has a tool', got: JSON.stringify(scope) }] },
    );
  }
}

/** An operator of one tenant pauses what that tenant does. */
function inTenant(scope: PauseScope, { name, tenant }: OperatorIdentity): PauseScope {
  if (tenant === '*') return scope;
  if (scope.tenant === null || scope.tenant === tenant) return { ...scope, tenant };
  throw new Refusal('forbidden', `${name} works for tenant ${tenant}, not ${scope.tenant}.`);
}
