import { type Grant, type GrantTerms, grantLimits } from '@intendant/contracts';
import { newId } from '@intendant/runtime';
import type { Pool } from 'pg';
import { answering } from './errors.js';
import { findGrant, type GrantReading, giveGrant, listGrants, revokeGrant } from './sql/grants.js';

const micros = 1_000_000;

export interface NewGrant extends GrantTerms {
  readonly toolVersion: number;
  readonly givenBy: string;
  /** Of the giver, for as long as the grant stands. */
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** How long, counted on the database clock. */
  readonly forMs: number;
}

export interface GrantFilter {
  /** Undefined: of all. */
  readonly tenant: string | undefined;
  readonly tool: string | undefined;
  /** Those that are over or revoked, too. */
  readonly all: boolean;
  /** Id of the last one of the page before. */
  readonly before: string | undefined;
  readonly limit: number;
}

/** Standing approvals, and what was taken of them (docs/decisions/0026). */
export class Grants {
  constructor(private readonly pool: Pool) {}

  /** Null where its tool has as many in force as there may be. */
  async give(grant: NewGrant): Promise<Grant | null> {
    const maxCost = grant.maxTotal === null ? null : Math.round(grant.maxTotal * micros);
    const [row] = await this.read(giveGrant, [
      ...[newId(), grant.tenant, grant.tool, grant.toolVersion, grant.when, grant.maxUses, maxCost, grant.user],
      ...[grant.sandbox, grant.reason, grant.givenBy, grant.roles, grant.forMs, grantLimits.perTool, grant.groups],
    ]);
    return row ? toGrant(row) : null;
  }

  /** The newest first. */
  async list({ tenant, tool, all, before, limit }: GrantFilter): Promise<Grant[]> {
    const rows = await this.read(listGrants, [tenant ?? null, tool ?? null, all, before ?? null, limit]);
    return rows.map(toGrant);
  }

  async find(id: string): Promise<Grant | null> {
    const [row] = await this.read(findGrant, [id]);
    return row ? toGrant(row) : null;
  }

  /** Nothing is begun by it once this has resolved. One that is over or revoked stays as it is. */
  async revoke(id: string, by: string): Promise<void> {
    await answering(() => this.pool.query({ ...revokeGrant, values: [id, by] }));
  }

  private async read(
    statement: { readonly name: string; readonly text: string },
    values: readonly unknown[],
  ): Promise<GrantReading[]> {
    return (await answering(() => this.pool.query<GrantReading>({ ...statement, values: [...values] }))).rows;
  }
}

function toGrant({ maxCost, spent, givenAt, expiresAt, revokedAt, ...row }: GrantReading): Grant {
  return {
    ...row,
    maxTotal: maxCost === null ? null : maxCost / micros,
    givenAt: givenAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    revokedAt: revokedAt?.toISOString() ?? null,
    spent: spent / micros,
    left: {
      uses: Math.max(0, row.maxUses - row.used),
      total: maxCost === null ? null : Math.max(0, maxCost - spent) / micros,
    },
  };
}
