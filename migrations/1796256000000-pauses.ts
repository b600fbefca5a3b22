import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators have paused. A pause that has ended stays, for the record. */
export class Pauses1796256000000 implements MigrationInterface {
  readonly name = 'Pauses1796256000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE pauses (
        id text COLLATE "C" PRIMARY KEY,
        tenant text,
        tool text,
        namespace text,
        upstream text,
        reason text NOT NULL,
        author text NOT NULL,
        author_tenant text,
        since timestamptz NOT NULL DEFAULT clock_timestamp(),
        until timestamptz,
        ended_at timestamptz,
        ended_by text
      )`);
    await runner.query('CREATE INDEX pauses_open ON pauses (since) WHERE ended_at IS NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE pauses');
  }
}
