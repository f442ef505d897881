import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Tests that drive real agent programs (`npm run test:agents`); they download more than a gigabyte once. */
export default defineConfig({
  test: {
    include: ['test/agents/**/*.test.ts'],
    // The ledger of a shift is outside of its project. The tests may be started by an agent program.
    env: { XDG_STATE_HOME: join(tmpdir(), 'nightshift-test-state'), OPENCODE_PID: '', CLAUDECODE: '' },
    server: { deps: { external: [/\/dist\//] } },
    globalSetup: ['test/build-once.ts', 'test/agent-host.ts', 'test/agents/install.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Each program takes seconds of a core to start.
    maxWorkers: 2,
    // Programs of others, with servers of their own, fail at times; vitest reports each retry.
    retry: 1,
  },
});
