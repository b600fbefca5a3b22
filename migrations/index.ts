export { type ApplicationRole, applicationRole } from './application-role.js';
export { migrationDataSource, migrations } from './data-source.js';
export { migrate } from './migrate.js';
