import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { tsconfigPaths: true },
  test: {
    include: ['{apps,bench,clients,examples,faults,libs,migrations,test}/**/*.spec.ts', 'bin/**/*.spec.mjs'],
    environment: 'node',
    // Processes, not threads: specs start and kill servers, and one must not take others with it.
    pool: 'forks',
    // The files of a process share what they import, which would otherwise be a quarter of all the work.
    isolate: false,
    // Most of the time is waiting for processes and leases; one worker per core leaves the cores idle.
    maxWorkers: 3,
    // A test that passes the second time has found something; it must not be hidden.
    retry: 0,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
