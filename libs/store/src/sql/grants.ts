const inForce = '(g.revoked_at IS NULL AND g.expires_at > clock_timestamp())';

/** What a grant has given out follows from the intents that go by it: what provably did not happen is not among them. */
const readFrom = (grants: string) => `
  SELECT g.id, g.tenant, g.tool, g.tool_version AS "toolVersion", g.condition AS "when", g.max_uses AS "maxUses",
    g.max_cost::float8 AS "maxCost", g.user_id AS "user", g.sandbox, g.reason, g.given_by AS "givenBy", g.given_at AS "givenAt",
    g.expires_at AS "expiresAt", g.revoked_at AS "revokedAt", g.revoked_by AS "revokedBy", ${inForce} AS "inForce",
    u.used::int AS used, u.spent::float8 AS spent
  FROM ${grants} AS g
  CROSS JOIN LATERAL (
    SELECT count(*) AS used, coalesce(sum(cost), 0) AS spent FROM intents WHERE grant_id = g.id AND held
  ) AS u`;

export interface GrantReading {
  readonly id: string;
  readonly tenant: string;
  readonly tool: string;
  readonly toolVersion: number;
  readonly when: string | null;
  readonly maxUses: number;
  /** Millionths of a unit. */
  readonly maxCost: number | null;
  readonly user: string | null;
  readonly sandbox: boolean;
  readonly reason: string;
  readonly givenBy: string;
  readonly givenAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
  readonly inForce: boolean;
  readonly used: number;
  /** Millionths of a unit. */
  readonly spent: number;
}

/** For $13 ms from now; no row where $14 of that tenant and tool are in force already. */
export const giveGrant = {
  name: 'give_grant',
  text: `
    WITH given AS (
      INSERT INTO grants (id, tenant, tool, tool_version, condition, max_uses, max_cost, user_id, sandbox, reason, given_by,
        giver_roles, giver_groups, expires_at)
      SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text[], $15::text[], clock_timestamp() + $13::float8 * interval '1 ms'
      WHERE (SELECT count(*) FROM grants AS g WHERE g.tenant = $2 AND g.tool = $3 AND ${inForce}) < $14
      RETURNING *
    ) ${readFrom('given')}`,
};

/** Of tenant $1 and tool $2 (null: all), only those in force unless $3, older than $4, the newest first. */
export const listGrants = {
  name: 'list_grants',
  text: `
    ${readFrom(`(
      SELECT * FROM grants AS g
      WHERE ($1::text IS NULL OR tenant = $1) AND ($2::text IS NULL OR tool = $2) AND ($3::boolean OR ${inForce})
        AND ($4::text IS NULL OR id < $4)
      ORDER BY id DESC LIMIT $5
    )`)}
    ORDER BY g.id DESC`,
};

export const findGrant = { name: 'find_grant', text: `${readFrom('grants')} WHERE g.id = $1` };

/** Whoever decides on it meanwhile, or starts an attempt by it, has done so before this returns, or decides again. */
export const revokeGrant = {
  name: 'revoke_grant',
  text: `
    UPDATE grants AS g SET revoked_at = clock_timestamp(), revoked_by = $2, stamp = stamp + 1
    WHERE id = $1 AND ${inForce}`,
};
