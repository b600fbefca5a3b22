import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The step that was said beside a dead message: without it, its replay would be another call. */
export class DeadMessageSteps1796515200000 implements MigrationInterface {
  readonly name = 'DeadMessageSteps1796515200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE dead_messages ADD COLUMN step_id text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE dead_messages DROP COLUMN step_id');
  }
}
