import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lists tell intents of the sandbox from real ones; older ones were all real. */
export class SandboxIntents1796169600000 implements MigrationInterface {
  readonly name = 'SandboxIntents1796169600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE intents ADD COLUMN sandbox boolean NOT NULL DEFAULT false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE intents DROP COLUMN sandbox');
  }
}
