// Three mistakes the linter must find: a promise of this file, of an npm package, and a callback that returns one.
import type { DataSource } from 'typeorm';

async function settle(): Promise<void> {}

export function forgetful(dataSource: DataSource): void {
  settle();
  dataSource.query('SELECT 1');
  [1, 2].forEach(async () => settle());
}
