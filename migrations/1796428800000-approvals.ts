import type { MigrationInterface, QueryRunner } from 'typeorm';

const states =
  "'pending', 'awaiting_approval', 'authorized', 'dispatching', 'accepted', 'unknown', 'dead_lettered', 'committed', 'failed', 'denied', 'cancelled', 'expired'";
const moving = "'pending', 'awaiting_approval', 'authorized', 'dispatching', 'accepted', 'unknown'";
const without = (list: string) => list.replace("'awaiting_approval', ", '');

/**
 * The state in which an intent waits for people, what a refusal is remembered by, and grants that stand in for approvals.
 * All in one transaction: `intents` is locked while its rows are checked and its indexes made.
 */
export class Approvals1796428800000 implements MigrationInterface {
  readonly name = 'Approvals1796428800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE runs ADD COLUMN refused boolean NOT NULL DEFAULT false');
    await runner.query('ALTER TABLE intents ADD COLUMN gist text, ADD COLUMN grant_id text');
    await stateConstraints(runner, states, moving);
    await runner.query('DROP INDEX intents_unclear');
    await runner.query(`
      CREATE INDEX intents_unclear ON intents (run_id)
        WHERE state IN ('awaiting_approval', 'unknown', 'accepted', 'dead_lettered')`);
    await runner.query("CREATE INDEX intents_awaiting ON intents (tenant, id) WHERE state = 'awaiting_approval'");
    await runner.query("CREATE INDEX intents_refused ON intents (gist, id) WHERE reason = 'approval_refused'");
    await runner.query('CREATE INDEX intents_granted ON intents (grant_id) WHERE held AND grant_id IS NOT NULL');
    await runner.query(`
      CREATE TABLE grants (
        id text COLLATE "C" PRIMARY KEY,
        tenant text NOT NULL,
        tool text NOT NULL,
        tool_version integer NOT NULL,
        sandbox boolean NOT NULL,
        condition text,
        max_uses integer NOT NULL CHECK (max_uses >= 1),
        max_cost bigint,
        user_id text,
        given_by text NOT NULL,
        giver_roles text[] NOT NULL,
        giver_groups text[] NOT NULL,
        reason text NOT NULL,
        given_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        revoked_by text,
        stamp bigint NOT NULL DEFAULT 0
      )`);
    await runner.query('CREATE INDEX grants_open ON grants (tenant, tool) WHERE revoked_at IS NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE grants');
    await runner.query('DROP INDEX intents_awaiting, intents_refused, intents_granted, intents_unclear');
    await runner.query(`
      CREATE INDEX intents_unclear ON intents (run_id) WHERE state IN ('unknown', 'accepted', 'dead_lettered')`);
    await stateConstraints(runner, without(states), without(moving));
    await runner.query('ALTER TABLE intents DROP COLUMN gist, DROP COLUMN grant_id');
    await runner.query('ALTER TABLE runs DROP COLUMN refused');
  }
}

async function stateConstraints(runner: QueryRunner, all: string, mayMove: string): Promise<void> {
  await runner.query(`
    ALTER TABLE intents
      DROP CONSTRAINT intents_state_check, DROP CONSTRAINT whatever_can_move_is_swept,
      ADD CONSTRAINT intents_state_check CHECK (state IN (${all})) NOT VALID,
      ADD CONSTRAINT whatever_can_move_is_swept
        CHECK ((state IN (${mayMove})) = (wake_at IS NOT NULL) OR state = 'committed') NOT VALID`);
  await runner.query('ALTER TABLE intents VALIDATE CONSTRAINT intents_state_check');
  await runner.query('ALTER TABLE intents VALIDATE CONSTRAINT whatever_can_move_is_swept');
}
