import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A commit may be looked at once more, so it may have a time to wake at. Receipts that lookups gave are remembered: one
 * that is given for two intents proves neither.
 */
export class LateEvidence1796083200000 implements MigrationInterface {
  readonly name = 'LateEvidence1796083200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE intents DROP CONSTRAINT whatever_can_move_is_swept');
    await runner.query(`
      ALTER TABLE intents ADD CONSTRAINT whatever_can_move_is_swept CHECK (
        (state IN ('pending', 'authorized', 'dispatching', 'accepted', 'unknown')) = (wake_at IS NOT NULL)
        OR state = 'committed')`);
    await runner.query(`
      CREATE TABLE lookup_receipts (
        tenant text NOT NULL,
        tool text NOT NULL,
        sandbox boolean NOT NULL,
        digest text NOT NULL,
        intent_id text COLLATE "C" NOT NULL,
        PRIMARY KEY (tenant, tool, sandbox, digest)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE lookup_receipts');
    await runner.query("UPDATE intents SET wake_at = NULL WHERE state = 'committed' AND wake_at IS NOT NULL");
    await runner.query('ALTER TABLE intents DROP CONSTRAINT whatever_can_move_is_swept');
    await runner.query(`
      ALTER TABLE intents ADD CONSTRAINT whatever_can_move_is_swept CHECK (
        (state IN ('pending', 'authorized', 'dispatching', 'accepted', 'unknown')) = (wake_at IS NOT NULL))`);
  }
}
