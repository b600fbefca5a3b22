import { type ApplicationRole, applicationRole, grantApplicationRole } from './application-role.js';
import { migrationDataSource, migrations } from './data-source.js';

/**
 * Brings the database to the newest schema and states the application role's rights. `url` is the owner's.
 * Safe to run by several processes at once: the second waits and finds nothing to do.
 *
 * @throws when the database is newer than this code
 */
export async function migrate(url: string, role: ApplicationRole = { name: applicationRole }): Promise<string[]> {
  const dataSource = await migrationDataSource(url).initialize();
  const lock = dataSource.createQueryRunner();
  try {
    await lock.query("SELECT pg_advisory_lock(hashtext('intendant_migrations'))");
    const done = await dataSource.runMigrations();
    const known = migrations.map((migration) => migration.name);
    const applied: { name: string }[] = await lock.query('SELECT name FROM migrations ORDER BY id');
    const newer = applied.filter(({ name }) => !known.includes(name));
    if (newer.length > 0) throw new Error(`it is newer than this code: it has ${newer.map((m) => m.name).join(', ')}`);
    await grantApplicationRole(lock, role);
    return done.map((m) => m.name);
  } finally {
    await lock.release();
    await dataSource.destroy();
  }
}
