import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changed, opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';

const { signal } = new AbortController();

/** Each prepares a repository in `project`; `working-dir` is there unless it names another folder. */
const REPOSITORIES: Record<string, (site: WorkspaceSite) => string | undefined> = {
  'spaces and Unicode in paths': (site) => {
    site.repository({ 'a b/ü "quoted"\t.txt': 'one\n', '目录/文件': 'two\n' }, 'project dir/ü');
    return 'project dir/ü';
  },
  'a detached HEAD': (site) => {
    site.repository({ 'a.txt': 'one\n' });
    site.run('project', 'checkout', '-q', '--detach');
    return undefined;
  },
  'a shallow clone': (site) => {
    site.repository({ 'a.txt': 'one\n' }, 'origin');
    site.write('origin/a.txt', 'two\n');
    site.commit('origin');
    site.run('.', 'clone', '-q', '--depth=1', `file://${site.root}/origin`, 'shallow');
    return 'shallow';
  },
  'a bare repository': (site) => {
    site.repository({ 'a.txt': 'one\n' }, 'origin');
    site.run('.', 'clone', '-q', '--bare', 'origin', 'bare.git');
    return 'bare.git';
  },
  'SHA-256': (site) => {
    site.repository({ 'a.txt': 'one\n' }, 'project', '--object-format=sha256');
    return undefined;
  },
  'a linked working tree': (site) => {
    site.repository({ 'a.txt': 'one\n' }, 'main');
    site.run('main', 'worktree', 'add', '-q', '../linked');
    return 'linked';
  },
  'core.autocrlf': (site) => {
    site.repository({ 'a.txt': 'one\n', 'b.bin': '\0\n' });
    site.run('project', 'config', 'core.autocrlf', 'true');
    return undefined;
  },
  'a sparse checkout': (site) => {
    site.repository({ 'a.txt': 'one\n', 'in/b.txt': 'b\n', 'out/c.txt': 'c\n' });
    site.run('project', 'sparse-checkout', 'set', 'in');
    return undefined;
  },
  'no commits yet': (site) => {
    site.run('project', 'init', '-q', '-b', 'main');
    return undefined;
  },
  'Git LFS that is not installed': (site) => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n';
    site.repository({ 'big.bin': pointer, '.gitattributes': '*.bin filter=lfs -text\n' });
    // Old enough for git to know it by its time.
    utimesSync(join(site.project, 'big.bin'), 1, 1);
    site.run('project', 'update-index', '--refresh', '-q');
    for (const [key, value] of [
      ['process', 'git-lfs-missing filter-process'],
      ['smudge', 'git-lfs-missing smudge %f'],
      ['clean', 'git-lfs-missing clean %f'],
      ['required', 'true'],
    ]) {
      site.run('project', 'config', `filter.lfs.${key}`, value!);
    }
    return undefined;
  },
};

/** Git reads a file again that is as young as the index, and would start the filter that is missing. */
const WITHOUT_LFS = ['process=', 'clean=', 'required=false'].flatMap((each) => ['-c', `filter.lfs.${each}`]);

test.each(Object.entries(REPOSITORIES))('W1 a worktree of a repository with %s', async (_, prepare) => {
  const site = new WorkspaceSite();
  const folder = prepare(site) ?? 'project';
  const isBare = folder.endsWith('.git');
  const gitDir = join(site.root, folder, site.run(folder, 'rev-parse', '--git-dir').replace(site.root, '..'));
  const look = () => [
    site.run(folder, 'for-each-ref', '--format=%(refname) %(objectname)'),
    readFileSync(join(gitDir, 'HEAD'), 'utf8'),
    isBare ? '' : site.run(folder, 'status', '--porcelain', '--untracked-files=all'),
  ];
  const before = look();
  const request = site.request({ workingDir: join(site.root, folder) });
  const workspace = opened(await site.open().open(request));
  const inside = workspace.top.slice(site.root.length + 1);
  // All files are there, and git in the workspace finds nothing changed.
  expect(site.run(inside, ...WITHOUT_LFS, 'status', '--porcelain')).toBe('');
  expect(site.run(inside, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${workspace.branch}`);
  if (workspace.base) {
    const names = site.run(inside, 'ls-tree', '-rz', '--name-only', 'HEAD').split('\0').filter(Boolean);
    expect(names.filter((name) => !existsSync(join(workspace.top, name)))).toEqual([]);
    expect(workspace.base).toBe(site.run(folder, 'rev-parse', 'HEAD'));
  }
  expect(await changed(workspace)).toEqual([]);
  site.write(`${inside}/new.txt`, 'new\n');
  expect(await changed(workspace)).toEqual(['added new.txt']);
  // An interrupted claim begins again, and removal leaves no trace.
  expect(await changed(opened(await site.open().open(request)))).toEqual([]);
  await site.open().remove((await site.records.all())[0]!, signal);
  expect(existsSync(workspace.top)).toBe(false);
  expect(site.run(folder, 'worktree', 'list')).not.toContain(workspace.top);
  expect(site.run(folder, 'for-each-ref', 'refs/heads/nightshift')).toBe('');
  expect(look()).toEqual(before);
  expect(site.warnings).toEqual([]);
});

test('W6 files of Git LFS are not committed as they are without it', async () => {
  const site = new WorkspaceSite();
  REPOSITORIES['Git LFS that is not installed']!(site);
  const workspaces = site.open();
  const { top, base } = opened(await workspaces.open(site.request()));
  appendFileSync(join(top, 'big.bin'), 'x');
  const { desk } = await workspaces.openDesk((await site.records.all())[0]!, signal);
  const reason = 'big.bin belongs to Git LFS, which is not installed';
  expect(await desk.commit(base, { message: 'x' })).toEqual({ kind: 'refused', reason });
});

test('W5 W7 submodules that the main checkout has are filled without the network, and put back', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'deep.txt': 'deep\n' }, 'deep');
  site.repository({ 'lib.txt': 'lib\n' }, 'lib');
  site.run('lib', 'submodule', '--quiet', 'add', `${site.root}/deep`, 'deep');
  site.commit('lib');
  site.repository({ 'a.txt': 'a\n' });
  site.run('project', 'submodule', '--quiet', 'add', `${site.root}/lib`, 'lib');
  site.run('project', 'submodule', '--quiet', 'add', `${site.root}/deep`, 'unused');
  site.run('project', 'submodule', '--quiet', 'update', '--init', '--recursive');
  site.commit();
  site.run('project', 'submodule', '--quiet', 'deinit', '-f', 'unused');
  for (const gone of ['lib', 'deep']) rmSync(join(site.root, gone), { recursive: true });
  site.run('project/lib', 'config', 'remote.origin.url', 'https://ada:token@host/lib.git');

  const { top, ...workspace } = opened(await site.open().open(site.request()));
  const inside = top.slice(site.root.length + 1);
  expect(readFileSync(join(top, 'lib/lib.txt'), 'utf8')).toBe('lib\n');
  expect(readFileSync(join(top, 'lib/deep/deep.txt'), 'utf8')).toBe('deep\n');
  expect(existsSync(join(top, 'unused/deep.txt'))).toBe(false);
  expect(site.run(inside, 'status', '--porcelain')).toBe('');
  // The agent reads it.
  expect(site.run(`${inside}/lib`, 'config', 'remote.origin.url')).toBe('https://host/lib.git');
  expect(workspace.base).toBeDefined();
  // An agent commits in it, and makes repositories of its own.
  site.write(`${inside}/lib/lib.txt`, 'changed\n');
  site.run(`${inside}/lib`, 'commit', '-qam', 'by the agent');
  site.repository({ 'b.txt': 'b\n' }, `${inside}/own`);
  mkdirSync(join(top, 'unborn'));
  site.run(`${inside}/unborn`, 'init', '-q');
  site.write(`${inside}/unborn/c.txt`, 'c\n');
  const { desk } = await site.open().openDesk((await site.records.all())[0]!, signal);
  expect(await desk.commit(workspace.base, { message: 'x' })).toEqual({
    kind: 'refused',
    reason: 'lib is a submodule at a commit that only this workspace has',
  });
  const again = opened(await site.open().open(site.request()));
  expect(await changed(again)).toEqual([]);
  expect(readFileSync(join(top, 'lib/lib.txt'), 'utf8')).toBe('lib\n');
  const left = join(site.root, 'engine/desks/3f9a2c77e0.0/left/1');
  expect(readFileSync(join(left, 'lib/lib.txt'), 'utf8')).toBe('changed\n');
  expect(readFileSync(join(left, 'own/b.txt'), 'utf8')).toBe('b\n');
  expect(readFileSync(join(left, 'unborn/c.txt'), 'utf8')).toBe('c\n');
});
