import { expect, test } from 'vitest';
import { Folders } from './folders.ts';
import type { Git } from './repository.ts';

test('Q2 a folder whose files can not be listed is said to be unwatched, once', async () => {
  const warnings: string[] = [];
  // It finds the repository, and then lists nothing: it was ended, or is gone.
  const git: Git = {
    defaultExcludes: '/none',
    run: async ({ args: [command] }) => {
      if (command === 'rev-parse') return { kind: 'printed', text: '/none/here\n/g\n/g/exclude\n/g/config\n/g/more\n' };
      return command === 'config' ? { kind: 'printed', text: '' } : { kind: 'not-run' };
    },
  };
  const around = { leftOut: '/none/shifts', git, ownOutput: () => new Set<string>(), hasNeighbours: () => false };
  const folders = new Folders({ ...around, warn: (message) => warnings.push(message) });
  const { signal } = new AbortController();
  for (let qa = 0; qa < 2; qa++) {
    using watch = await folders.watch({ folder: '/none/here', protect: [], alone: true, signal });
    expect(await watch.changes()).toEqual({ files: [], isShared: false });
  }
  expect(warnings).toEqual(["changes by a qa are not noticed in /none/here: git can't list its files"]);
});
