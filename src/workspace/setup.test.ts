import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changed, opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';
import type { WorkspaceRequest } from '../core/workspace/workspaces.ts';

const BRANCH = 'nightshift/upgrade/gro-e-ts';

/** Like an installer in a repository that does not ignore what it makes. */
const SETUP = `echo made > generated.txt; echo locked >> lock.json; rm old.txt; rm swap; mkdir swap; echo x > swap/x
git init -q tool; echo x > tool/x; truncate -s 101M big.bin`;

class Site extends WorkspaceSite {
  constructor() {
    super();
    this.repository({ 'a.txt': 'a\n', 'lock.json': '{}\n', 'old.txt': 'old\n', swap: 'swap\n' });
    this.run('project', 'config', 'user.name', 'Ada');
    this.run('project', 'config', 'user.email', 'ada@example.org');
  }

  asked(more: Partial<WorkspaceRequest> = {}, setup = SETUP): WorkspaceRequest {
    return this.request({
      setUp: async ({ folder }) => void execFileSync('sh', ['-ec', setup], { cwd: folder }),
      ...more,
    });
  }

  deliver(workspaces: ReturnType<Site['open']>, kind: 'branch' | 'merge', check = async () => undefined) {
    return this.deliveries(workspaces).deliver({ ...this.delivery(this.request().item.id, kind), check });
  }

  delivered(): string[] {
    return this.run('project', 'diff', '--name-status', 'main', BRANCH).split('\n');
  }
}

test('W5 W6 W8 what setup made is neither judged nor delivered; agents, hooks and the next task have it', async () => {
  const site = new Site();
  const seen = join(site.root, 'seen');
  site.write(
    'project/.git/hooks/pre-commit',
    `#!/bin/sh\n{ git diff --cached --name-only; cat generated.txt lock.json; } > ${seen}\n`,
    0o755,
  );
  const workspaces = site.open();
  const first = opened(await workspaces.open(site.asked()));
  expect(await changed(first)).toEqual([]);
  writeFileSync(join(first.top, 'mine.txt'), 'mine\n');
  expect(await changed(first)).toEqual(['added mine.txt']);
  const second = opened(await workspaces.open(site.asked({ task: 'second' })));
  expect(readFileSync(join(second.top, 'generated.txt'), 'utf8')).toBe('made\n');
  writeFileSync(join(second.top, 'a.txt'), 'A\n');
  expect(await changed(second)).toEqual(['changed a.txt']);
  expect(await site.deliver(workspaces, 'branch')).toMatchObject({ kind: 'delivered' });
  expect(site.delivered()).toEqual(['M\ta.txt', 'A\tmine.txt']);
  expect(readFileSync(seen, 'utf8')).toBe('a.txt\nmine.txt\nmade\n{}\nlocked\n');
  // A row that only has what `setup` made has changed nothing.
  const item = { id: 'other.0', row: 5, label: 'other' };
  opened(await workspaces.open(site.asked({ item })));
  expect(await site.deliveries(workspaces).deliver(site.delivery(item.id, 'branch'))).toMatchObject({
    note: 'nothing was changed, so nothing was delivered',
  });
});

test('W6 W8 a file of setup that an agent changes is delivered as the agent left it', async () => {
  const site = new Site();
  const workspaces = site.open();
  const workspace = opened(await workspaces.open(site.asked()));
  const { top } = workspace;
  writeFileSync(join(top, 'lock.json'), '{}\nlocked\nupgraded\n');
  writeFileSync(join(top, 'generated.txt'), 'mine\n');
  writeFileSync(join(top, 'swap', 'y'), 'y\n');
  writeFileSync(join(top, 'old.txt'), 'new\n');
  const names = ['changed generated.txt', 'changed lock.json', 'added old.txt', 'added swap/y'];
  expect(await changed(workspace)).toEqual(names);
  expect(await site.deliver(workspaces, 'branch')).toMatchObject({ kind: 'delivered' });
  expect(site.delivered()).toEqual(['A\tgenerated.txt', 'M\tlock.json', 'M\told.txt', 'D\tswap', 'A\tswap/y']);
  expect(site.run('project', 'show', `${BRANCH}:lock.json`)).toBe('{}\nlocked\nupgraded');
});

test('W5 W8 after a merge, checks see the files of others and what setup made', async () => {
  const site = new Site();
  const workspaces = site.open();
  const workspace = opened(await workspaces.open(site.asked()));
  writeFileSync(join(workspace.top, 'mine.txt'), 'mine\n');
  expect(await changed(workspace)).toEqual(['added mine.txt']);
  // Others have merged something since, also to a file that `setup` changes.
  site.run('project', 'branch', 'nightshift/upgrade/merged');
  site.run('project', 'worktree', 'add', '-q', '../others', 'nightshift/upgrade/merged');
  site.write('others/a.txt', 'theirs\n');
  site.write('others/lock.json', 'theirs\n');
  site.commit('others');
  site.run('others', 'checkout', '-q', '--detach');
  const read = (file: string) => readFileSync(join(workspace.top, file), 'utf8');
  let seen: string[] = [];
  const check = async () => {
    seen = ['mine.txt', 'generated.txt', 'a.txt', 'lock.json', 'swap/x'].map(read);
    return undefined;
  };
  expect(await site.deliver(workspaces, 'merge', check)).toMatchObject({ kind: 'delivered' });
  expect(seen).toEqual(['mine\n', 'made\n', 'theirs\n', 'theirs\n', 'x\n']);
  expect(site.run('project', 'diff', '--name-only', 'main', 'nightshift/upgrade/merged')).toBe(
    'a.txt\nlock.json\nmine.txt',
  );
});

test.each(['worktree', 'copy'] as const)(
  'W5 W7 a %s that is made again is as it was, whatever setup makes now',
  async (kind) => {
    const site = new Site();
    const request = site.asked({ kind });
    const first = opened(await site.open().open(request));
    writeFileSync(join(first.top, 'mine.txt'), 'mine\n');
    expect(await changed(first)).toEqual(['added mine.txt']);
    rmSync(first.top, { recursive: true });
    const again = site.asked({ kind, role: 'qa' }, `${SETUP}; echo late > late.txt; echo again >> lock.json`);
    const workspaces = site.open();
    const restored = opened(await workspaces.open(again));
    expect(existsSync(join(restored.top, 'late.txt'))).toBe(false);
    expect(readFileSync(join(restored.top, 'lock.json'), 'utf8')).toBe('{}\nlocked\n');
    expect(await changed(restored)).toEqual(['added mine.txt']);
    const record = (await site.records.all())[0]!;
    const { desk, result } = await workspaces.openDesk(record, new AbortController().signal);
    const diff = ['diff', '--name-only', record.base!, result!.change];
    expect(site.run('.', `--git-dir=${desk.folder}`, ...diff)).toBe('mine.txt');
  },
);
