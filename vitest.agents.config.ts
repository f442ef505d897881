import { defineConfig } from 'vitest/config';

/** Tests that drive real agent programs (`npm run test:agents`); they download more than a gigabyte once. */
export default defineConfig({
  test: {
    include: ['test/agents/**/*.test.ts'],
    globalSetup: ['test/build-once.ts', 'test/agents/install.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Each program takes seconds of a core to start.
    maxWorkers: 2,
    retry: Number(process.env.NIGHTSHIFT_RETRIES ?? (process.env.CI ? 1 : 0)),
  },
});
