import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changed, opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';

const { signal } = new AbortController();

/** What an agent does in its workspace, and what comes of it: its change, or why there is none. */
const TRICKS: [string, string, readonly string[] | RegExp][] = [
  [
    'links that lead out, and one that leads to itself',
    'ln -s /etc/passwd link; rm -rf src; ln -s "$PROJECT/src" src; ln -s loop loop',
    ['added link', 'added loop', 'added src', 'removed src/b.txt'],
  ],
  ['its own folder removed', 'cd /; rm -rf "$TOP"', /is gone$/],
  ['a link to the main checkout in place of its folder', 'cd /; rm -rf "$TOP"; ln -s "$PROJECT" "$TOP"', /is gone$/],
  ['`git worktree remove`', 'cd "$PROJECT"; git worktree remove --force "$TOP"', /is gone$/],
  ['a file of 5 GB', 'truncate -s 5G big; truncate -s 5G a.txt', /^big is too large: .* up to 100 MB/],
  [
    'branches moved and deleted',
    'git commit -q --allow-empty -m x; git update-ref refs/heads/main HEAD; git checkout -q --detach; git branch -qD $BRANCH; echo > new',
    ['added new'],
  ],
  ['`git worktree prune`', 'rm .git; cd "$PROJECT"; git worktree prune; echo > "$TOP/new"', ['added new']],
  [
    '`git gc --prune=now`',
    'echo > new; git add -A; git commit -qm x; git reset -q --hard HEAD~1; git reflog expire --expire=now --all; git gc -q --prune=now; echo > newer',
    ['added newer'],
  ],
  ['a repository inside', 'git init -q inner; echo > inner/x', /^inner\/ is a git repository of its own$/],
  ['names like options', 'echo > --force; echo > -rf; echo > ":!x"', ['added --force', 'added -rf', 'added :!x']],
  ['.git that points elsewhere', 'echo "gitdir: $PROJECT/.git" > .git; echo > new', ['added new']],
  ['a pipe in place of .git', 'rm .git; mkfifo .git; echo > new', ['added new']],
  ['a pipe and one in place of a file', 'mkfifo pipe; rm a.txt; mkfifo a.txt', /^a\.txt can't be read$/],
  ['files that it hides from git', 'mkdir sub; echo "*" > sub/.gitignore; echo > sub/x; echo > new', ['added new']],
  ['an encoding that no file has', 'echo "* working-tree-encoding=UTF-16" > .gitattributes', /can't be read/],
  [
    'programs in hooks, filters and settings',
    `for hook in pre-commit post-checkout reference-transaction post-index-change; do
      for at in "$PROJECT/.git/hooks" "$TOP/hooks"; do
        mkdir -p "$at"; printf '#!/bin/sh\\ntouch "%s/evil"\\n' "$ROOT" > "$at/$hook"; chmod +x "$at/$hook"
      done
    done
    echo "* filter=evil diff=evil merge=evil" > .gitattributes
    for key in core.fsmonitor core.sshCommand core.pager core.editor filter.evil.clean filter.evil.smudge filter.evil.process \
      diff.evil.command diff.evil.textconv diff.external merge.evil.driver; do git config $key "touch $ROOT/evil; cat"; done
    git config filter.evil.required true; git config core.hooksPath "$TOP/hooks"; rm -r hooks`,
    ['added .gitattributes'],
  ],
  [
    'settings of its working tree',
    'git config extensions.worktreeConfig true; git config --worktree core.worktree /etc; echo > new',
    ['added new'],
  ],
  ['locks', 'touch "$(git rev-parse --git-dir)/index.lock" "$PROJECT/.git/index.lock"; echo > new', ['added new']],
  [
    'folders that are too deep',
    `deep=$(printf 'dddddddddd/%.0s' $(seq 200)); mkdir -p "$deep" "x/$deep"; mv x "$deep"`,
    [],
  ],
  ['folders without permissions', 'mkdir -p locked/in; chmod 0 locked/in locked; echo > new', ['added new']],
];

test.each(TRICKS)('W11 W4 %s: it works again, and nothing outside is harmed', async (_, script, expected) => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n', 'src/b.txt': 'b\n' });
  const workspaces = site.open();
  const workspace = opened(await workspaces.open(site.request()));
  const { top, branch } = workspace;
  const who = { GIT_AUTHOR_NAME: 'x', GIT_AUTHOR_EMAIL: 'x', GIT_COMMITTER_NAME: 'x', GIT_COMMITTER_EMAIL: 'x' };
  const env = { ...process.env, ...who, PROJECT: site.project, TOP: top, ROOT: site.root, BRANCH: branch };
  const ran = spawnSync('sh', ['-c', script], { cwd: top, env, encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  // What the agent's own calls of git have run.
  spawnSync('rm', ['-f', join(site.root, 'evil')]);

  if (expected instanceof RegExp) {
    expect(await workspace.change(signal)).toMatchObject({ kind: 'failed', reason: expect.stringMatching(expected) });
  } else expect(await changed(workspace)).toEqual(expected);
  // The next attempt, and the next claim.
  const isGone = expected instanceof RegExp && expected.test('is gone');
  expect(await workspace.restore(signal)).toEqual({ kind: isGone ? 'made' : 'there' });
  expect(lstatSync(top).isDirectory()).toBe(true);
  const again = opened(await workspaces.open(site.request()));
  expect(readFileSync(join(again.top, 'a.txt'), 'utf8')).toBe('a\n');
  expect(await changed(again)).toEqual([]);
  const [record] = await site.records.all();
  await workspaces.remove(record!, signal);
  expect([existsSync(top), existsSync(join(site.root, 'evil'))]).toEqual([false, false]);
  expect([readdirSync(site.project), readdirSync(join(site.project, 'src'))]).toEqual([
    ['.git', 'a.txt', 'src'],
    ['b.txt'],
  ]);
});
