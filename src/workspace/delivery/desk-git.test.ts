import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Repository, realGit } from '../../../test/kit/real-git.ts';
import type { Git } from '../git.ts';
import { fetchFromDesk } from './desk-git.ts';

test('W8 a working tree that another program is just adding does not fail a delivery', async () => {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-delivery-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const repository = new Repository(join(root, 'repository'), { 'a.txt': 'a\n' });
  repository.git('clone', '-q', '.', join(root, 'desk'));
  const desk = new Repository(join(root, 'desk'), { 'a.txt': 'b\n' });
  // As `git worktree add` leaves it for a moment.
  const half = join(repository.folder, '.git', 'worktrees', 'half');
  mkdirSync(half, { recursive: true });
  writeFileSync(join(half, 'HEAD'), `${'0'.repeat(40)}\n`);
  writeFileSync(join(half, 'gitdir'), `${join(root, 'half', '.git')}\n`);
  writeFileSync(join(half, 'commondir'), '../..\n');
  const said: string[] = [];
  const git: Git = {
    run: async (call) => {
      const result = await realGit.run(call);
      if (result.kind === 'refused') said.push(result.said);
      if (said.length === 2) rmSync(half, { recursive: true, force: true });
      return result;
    },
  };
  const { signal } = new AbortController();
  await fetchFromDesk(
    git,
    { folder: repository.folder, options: [], env: {} },
    { desk: desk.folder, branch: 'main' },
    signal,
  );
  expect(said).toEqual([expect.stringContaining('worktrees/half/HEAD'), expect.anything()]);
  expect(repository.git('cat-file', '-t', desk.git('rev-parse', 'HEAD'))).toBe('commit');
});
