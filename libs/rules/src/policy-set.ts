import type { Expression } from '@intendant/cel';
import type { Rate } from '@intendant/contracts';

/** What may be decided about a call before it is recorded. */
export type Kind = 'allow' | 'deny' | 'require_approval';

/** Names of tools, or namespaces ending in `.*`; null: all tools. */
export type ToolPatterns = readonly string[] | null;

export interface Rule {
  readonly name: string;
  readonly tools: ToolPatterns;
  /** Null: it always matches. */
  readonly when: Expression | null;
  readonly then: Kind;
  /** For the agent; null only where `then` is `allow`. */
  readonly message: string | null;
  /** Whether it has to be known what the run has done so far. */
  readonly usesRun: boolean;
  /** Where it stands. */
  readonly file: string;
}

/** A condition on the arguments of calls in runs that a service key has opened. */
export interface Restriction {
  /** Such as `support-bot.restrict.0`. */
  readonly name: string;
  readonly tools: ToolPatterns;
  /** Must be true. */
  readonly allow: Expression;
  /** For the agent. */
  readonly message: string;
}

/** The most that a run may be given; null: as much as without this file. */
export interface Ceilings {
  readonly calls: number | null;
  readonly wallClockMs: number | null;
  readonly mutating: number | null;
  readonly destructive: number | null;
  /** Millionths of a unit. */
  readonly costMicros: number | null;
}

export interface ServiceKeyPolicy {
  readonly ceilings: Ceilings;
  /** Permissions, or beginnings of permissions followed by `*`; null: no limit. */
  readonly permissions: readonly string[] | null;
  readonly restrict: readonly Restriction[];
}

/** All policy files of a deployment, read once and never changed. */
export interface PolicySet {
  /** Of the content alone: sixteen hex digits of a SHA-256. */
  readonly version: string;
  /** What happens to a call that no rule matches. */
  readonly default: 'allow' | 'deny';
  /** What each file says, that of the whole deployment first if there is one, then by tenant. */
  readonly files: readonly PolicyFile[];
  /** Those of the whole deployment and the tenant's own, in the order of their names. */
  rulesFor(tenant: string): readonly Rule[];
  /** Null: the files say nothing of this key. */
  serviceKey(name: string, tenant: string): ServiceKeyPolicy | null;
  /** The tenant's own rate, else that of the whole deployment. */
  rates(tenant: string): { readonly perTenant: Rate | null };
}

/** What one file says; `tenant` null: for the whole deployment. */
export interface PolicyFile {
  readonly tenant: string | null;
  readonly default: 'allow' | 'deny' | null;
  readonly serviceKeys: ReadonlyMap<string, ServiceKeyPolicy>;
  readonly perTenant: Rate | null;
  readonly rules: readonly Rule[];
}

/** Files that were checked, at most one for each tenant and one for the deployment. */
export function policySetOf(files: readonly PolicyFile[], version: string): PolicySet {
  const general = files.find(({ tenant }) => tenant === null);
  const own = new Map(files.map((file) => [file.tenant, file]));
  const everyones = sorted(general?.rules ?? []);
  const rules = new Map(
    files.map((file) => [file.tenant, sorted([...everyones, ...(file === general ? [] : file.rules)])]),
  );
  return {
    version,
    default: general?.default ?? 'allow',
    files: files.toSorted((a, b) => ((a.tenant ?? '') < (b.tenant ?? '') ? -1 : 1)),
    rulesFor: (tenant) => rules.get(tenant) ?? everyones,
    serviceKey: (name, tenant) => own.get(tenant)?.serviceKeys.get(name) ?? general?.serviceKeys.get(name) ?? null,
    rates: (tenant) => ({ perTenant: own.get(tenant)?.perTenant ?? general?.perTenant ?? null }),
  };
}

function sorted(rules: readonly Rule[]): readonly Rule[] {
  return rules.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
