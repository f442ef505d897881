import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Tests of the page and the report in a real Chromium (`npm run test:page`). */
export default defineConfig({
  test: {
    include: ['test/page/**/*.test.ts'],
    env: { XDG_STATE_HOME: join(tmpdir(), 'nightshift-test-state'), OPENCODE_PID: '', CLAUDECODE: '' },
    server: { deps: { external: [/\/dist\//] } },
    globalSetup: ['test/build-once.ts', 'test/agent-host.ts'],
    // Generous: they only end tests that hang, also on a machine with other work to do.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
