import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'web/**/*.test.ts', 'test/**/*.test.ts'],
    // These need real agent programs (vitest.agents.config.ts), install the package (vitest.install.config.ts), need a
    // browser (vitest.page.config.ts), or take many minutes (vitest.fleet.config.ts).
    exclude: ['test/agents/**', 'test/install/**', 'test/page/**', 'test/fleet/full/**'],
    // The ledger of a shift is outside of its project. The tests may be started by an agent program.
    env: { XDG_STATE_HOME: join(tmpdir(), 'nightshift-test-state'), OPENCODE_PID: '', CLAUDECODE: '' },
    // The built program is run as it is, also inside of a worker (test/in-process.ts).
    server: { deps: { external: [/\/dist\//] } },
    globalSetup: ['test/announce.ts', 'test/build-once.ts', 'test/agent-host.ts'],
    // Generous: they only end tests that hang, also on a machine with other work to do.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // A worker loads a module once for all of its files. Tests keep no state in modules.
    isolate: false,
    // Most tests wait for processes, so more workers than cores keep the cores busy.
    maxWorkers: 4,
  },
});
