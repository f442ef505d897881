import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Tests that drive real agent programs (`npm run test:agents`); they download more than a gigabyte once. */
export default defineConfig({
  test: {
    include: ['test/agents/**/*.test.ts'],
    // What a shift has spent is kept outside of its project, too. Whoever runs the tests may sit in an agent program.
    env: { XDG_STATE_HOME: join(tmpdir(), 'nightshift-test-state'), OPENCODE_PID: '', CLAUDECODE: '' },
    globalSetup: ['test/build-once.ts', 'test/agents/install.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Each program takes seconds of a core to start.
    maxWorkers: 2,
    retry: Number(process.env.NIGHTSHIFT_RETRIES ?? (process.env.CI ? 1 : 0)),
  },
});
