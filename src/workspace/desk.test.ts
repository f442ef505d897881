import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { realGit } from '../../test/kit/real-git.ts';
import { Desk } from './desk.ts';
import { readSource } from './source.ts';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const signal = new AbortController().signal;
const git = realGit;

class Place {
  readonly root = mkdtempSync(join(tmpdir(), 'nightshift-desk-'));
  readonly repository = join(this.root, 'repository');
  readonly workspace = join(this.root, 'workspace');

  constructor() {
    made.push(this.root);
    mkdirSync(this.repository);
    this.git('init', '-q', '-b', 'main');
    this.git('config', 'user.name', 'A "per" son');
    this.git('config', 'user.email', 'person@example.org');
  }

  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.repository, encoding: 'utf8' }).trim();
  }

  write(file: string, text: string): void {
    mkdirSync(dirname(join(this.root, file)), { recursive: true });
    writeFileSync(join(this.root, file), text);
  }

  async desk(): Promise<Desk> {
    const source = await readSource(git, this.repository, join(this.root, 'copies'), signal);
    return Desk.open(
      git,
      { folder: join(this.root, 'desk'), workspace: this.workspace, source, branch: 'night/row' },
      signal,
    );
  }
}

test('W4 W6 the engine commits what the files hold, with the hooks and configuration of the start of the run', async () => {
  const place = new Place();
  place.write('repository/a.txt', 'one\n');
  place.write('repository/.gitignore', '*.log\n');
  place.write('repository/.git/hooks/commit-msg', '#!/bin/sh\necho "Checked-by: hook" >>"$1"\n');
  chmodSync(join(place.repository, '.git/hooks/commit-msg'), 0o755);
  place.git('add', '-A');
  place.git('commit', '-qm', 'first', '--no-verify');
  const base = place.git('rev-parse', 'HEAD');
  place.git('worktree', 'add', '-q', '-b', 'night/row', place.workspace, base);
  const desk = await place.desk();
  const tree = await desk.tree(base);
  expect(await desk.change(base)).toEqual({ files: [] });
  expect(await desk.commit(base, { tree, message: 'nothing' })).toEqual({ kind: 'unchanged' });

  // What an agent can do: commit, move its branch, replace hooks, name filters and programs.
  place.write('workspace/ü b/new.txt', 'new\n');
  place.write('workspace/noise.log', 'noise\n');
  execFileSync('git', ['add', '-A'], { cwd: place.workspace });
  execFileSync('git', ['commit', '-qm', 'by the agent', '--no-verify'], { cwd: place.workspace });
  execFileSync('git', ['checkout', '-q', '--detach'], { cwd: place.workspace });
  appendFileSync(join(place.workspace, 'a.txt'), 'two\n');
  symlinkSync('/etc/passwd', join(place.workspace, 'link'));
  place.write('workspace/.gitattributes', '*.txt filter=evil\n');
  place.git('config', 'filter.evil.clean', `touch ${place.root}/evil; cat`);
  place.git('config', 'user.name', 'Mallory');
  place.write('repository/.git/hooks/pre-commit', `#!/bin/sh\ntouch ${place.root}/evil\nexit 1\n`);
  chmodSync(join(place.repository, '.git/hooks/pre-commit'), 0o755);

  const changed = await desk.tree(base);
  const names = (await desk.change(base)).files.map(({ path, kind }) => `${kind} ${path}`);
  expect(names).toEqual(['added .gitattributes', 'changed a.txt', 'added link', 'added ü b/new.txt']);
  const committed = await desk.commit(base, { tree: changed, message: 'Row 1\n\nNightshift-Key: k1\n' });
  expect(committed.kind).toBe('committed');
  const show = (format: string) =>
    execFileSync('git', ['--git-dir', desk.folder, 'log', '-1', `--format=${format}`, 'night/row'], {
      encoding: 'utf8',
    });
  expect(show('%P').trim()).toBe(base);
  expect(show('%an').trim()).toBe('A "per" son');
  expect(show('%B').trim()).toBe('Row 1\n\nNightshift-Key: k1\nChecked-by: hook');
  expect(spawnSync('test', ['-e', join(place.root, 'evil')]).status).toBe(1);
});

test('W4 a hook that refuses is the reason; a repository inside of the workspace is not lost silently', async () => {
  const place = new Place();
  place.write(
    'repository/.git/hooks/pre-commit',
    '#!/bin/sh\ngrep -rq FORBIDDEN . && { echo "no FORBIDDEN here" >&2; exit 1; }\nexit 0\n',
  );
  chmodSync(join(place.repository, '.git/hooks/pre-commit'), 0o755);
  mkdirSync(place.workspace);
  const desk = await place.desk();
  // No commit yet: the base is nothing.
  place.write('workspace/a.txt', 'FORBIDDEN\n');
  const commit = async () => desk.commit(undefined, { tree: await desk.tree(undefined), message: 'first' });
  expect(await commit()).toEqual({ kind: 'refused', reason: 'no FORBIDDEN here' });
  place.write('workspace/a.txt', 'allowed\n');
  expect((await commit()).kind).toBe('committed');
  mkdirSync(join(place.workspace, 'inner'));
  execFileSync('git', ['init', '-q'], { cwd: join(place.workspace, 'inner') });
  place.write('workspace/inner/b.txt', 'b\n');
  const inner = ['-c', 'user.name=x', '-c', 'user.email=x@y'];
  execFileSync('git', ['add', '-A'], { cwd: join(place.workspace, 'inner') });
  execFileSync('git', [...inner, 'commit', '-qm', 'b'], { cwd: join(place.workspace, 'inner') });
  await desk.tree(undefined);
  expect(await desk.refusal(undefined)).toBe('inner is a git repository of its own');
});
