import { applicationRole } from './application-role.js';
import { migrate } from './migrate.js';

const { INTENDANT_MIGRATION_DATABASE_URL: url, INTENDANT_APP_ROLE, INTENDANT_APP_PASSWORD } = process.env;
if (!url) {
  console.error(
    'INTENDANT_MIGRATION_DATABASE_URL (the owner of the schema) is not set; for example postgres://postgres:secret@127.0.0.1:5432/intendant',
  );
  process.exit(2);
}
try {
  const done = await migrate(url, { name: INTENDANT_APP_ROLE ?? applicationRole, password: INTENDANT_APP_PASSWORD });
  console.log(done.length > 0 ? `migrated: ${done.join(', ')}` : 'the database is up to date');
} catch (error) {
  console.error(`the database could not be migrated: ${(error as Error).message}`);
  process.exit(1);
}
