import { defineConfig } from 'vitest/config';

/** Tests that install the repository with npm in a clean folder (`npm run test:install`), as the action and the image do. */
export default defineConfig({
  test: {
    include: ['test/install/**/*.test.ts'],
    env: { OPENCODE_PID: '', CLAUDECODE: '' },
    testTimeout: 600_000,
    // Removing an installed copy takes a while on a busy disk.
    hookTimeout: 600_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
