import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Messages are found by their own id, so that whoever committed one can delete it without asking for its position.
 * Their order means nothing.
 */
export class OutboxByMessage1795996800000 implements MigrationInterface {
  readonly name = 'OutboxByMessage1795996800000';

  async up(runner: QueryRunner): Promise<void> {
    // What waits twice is the same announcement: the bus would swallow the second.
    await runner.query(`
      DELETE FROM outbox AS later USING outbox AS earlier
      WHERE later.msg_id = earlier.msg_id AND later.position > earlier.position`);
    await runner.query('ALTER TABLE outbox DROP COLUMN position');
    await runner.query('ALTER TABLE outbox ADD PRIMARY KEY (msg_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE outbox DROP CONSTRAINT outbox_pkey');
    await runner.query('ALTER TABLE outbox ADD COLUMN position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY');
  }
}
