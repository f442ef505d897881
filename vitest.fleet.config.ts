import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** The full-size tests of fleets (`npm run test:fleet`); they need a PostgreSQL. `npm test` has small ones. */
export default defineConfig({
  test: {
    include: ['test/fleet/full/**/*.test.ts', 'test/fleet/ends.test.ts'],
    env: {
      XDG_STATE_HOME: join(tmpdir(), 'nightshift-test-state'),
      OPENCODE_PID: '',
      CLAUDECODE: '',
      NIGHTSHIFT_TEST_POSTGRES: 'yes',
      NIGHTSHIFT_TARGETS: 'yes',
    },
    server: { deps: { external: [/\/dist\//] } },
    globalSetup: ['test/build-once.ts', 'test/agent-host.ts'],
    testTimeout: 30 * 60_000,
    hookTimeout: 180_000,
    pool: 'forks',
    // Each of them uses all cores, and some measure times.
    maxWorkers: 1,
  },
});
