import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // They need real agent programs: vitest.agents.config.ts.
    exclude: ['test/agents/**'],
    // What a shift has spent is kept outside of its project, too. Whoever runs the tests may sit in an agent program.
    env: { XDG_STATE_HOME: join(tmpdir(), 'nightshift-test-state'), OPENCODE_PID: '', CLAUDECODE: '' },
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
