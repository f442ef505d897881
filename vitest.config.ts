import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // They need real agent programs: vitest.agents.config.ts.
    exclude: ['test/agents/**'],
    globalSetup: ['test/build-once.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Tests wait for processes more than they compute: one worker for each core but one would leave most of the time unused.
    maxWorkers: 4,
    // Real processes on a machine that others use too: in CI one unlucky moment is tried again, and vitest says so.
    retry: Number(process.env.NIGHTSHIFT_RETRIES ?? (process.env.CI ? 1 : 0)),
  },
});
