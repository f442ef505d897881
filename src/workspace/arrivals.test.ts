import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Repository, realGit } from '../../test/kit/real-git.ts';
import { Arrivals } from './arrivals.ts';
import { Desk } from './desk.ts';
import type { Git } from './git.ts';
import { Reading } from './reading.ts';
import type { WorkspaceRecord } from './records.ts';
import { readSource } from './source.ts';

const signal = new AbortController().signal;

test('W7 a remote is asked and fetched once for all workspaces of a repository, without moving a branch', async () => {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-test-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const remote = new Repository(join(root, 'remote'), { 'a.txt': 'a\n' });
  const repository = new Repository(join(root, 'repository'));
  repository.git('remote', 'add', 'origin', remote.folder);
  repository.git('fetch', '-q', 'origin');
  repository.git('reset', '-q', '--hard', 'origin/main');
  const base = repository.git('rev-parse', 'HEAD');
  const source = await readSource(realGit, repository.folder, join(root, 'copies'), signal);
  const asked: string[] = [];
  const git: Git = {
    run: (call) => {
      if (call.isRemote) asked.push(call.args[0]!);
      return realGit.run(call);
    },
  };
  const rows = [1, 2, 3].map((row) => {
    const [folder, branch] = [join(root, `row-${row}`), `night/${row}`];
    repository.git('worktree', 'add', '-q', '-b', branch, folder, base);
    writeFileSync(join(folder, `${row}.txt`), 'new\n');
    const names = { id: `id-${row}`, row, slug: `${row}`, folder, branch, from: repository.folder };
    return { ...names, kind: 'worktree', base, state: 'ready', madeAt: '' } satisfies WorkspaceRecord;
  });
  for (const row of [1, 3]) remote.commit('squashed', { [`${row}.txt`]: 'new\n' });
  const refs = repository.git('for-each-ref');
  const arrivals = new Arrivals(git, signal);
  const find = async (record: (typeof rows)[number]) => {
    const { folder: workspace, branch } = record;
    const desk = join(root, 'desks', record.id);
    await (await Desk.open(realGit, { folder: desk, workspace, source, branch }, signal)).change(base);
    await using reading = await Reading.open(git, { desk, repository: record.from }, signal);
    const span = { base, ...(await reading.files(workspace, base)) };
    return await arrivals.find({ record, desk, into: 'night/merged' }, reading, span);
  };
  const inMain = { kind: 'arrived', branch: 'origin/main' };
  expect(await Promise.all(rows.map(find))).toEqual([inMain, undefined, inMain]);
  expect([asked, repository.git('for-each-ref')]).toEqual([['ls-remote', 'fetch'], refs]);
});
