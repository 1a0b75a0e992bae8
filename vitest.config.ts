import path from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { alias: { '~': path.resolve(import.meta.dirname, 'app') } },
  test: {
    include: ['tests/**/*.test.{ts,tsx}'],
    globalSetup: ['tests/support/one-database-server.ts'],
    setupFiles: ['tests/support/watch.ts'],
    pool: 'forks',
    poolOptions: { forks: { minForks: 1, maxForks: 2 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    // Real processes on a build machine that others use too may be starved once; what fails twice in a row is a fault, and the first is printed.
    retry: process.env.CI ? 1 : 0,
    unstubEnvs: true,
  },
});
