import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Project, type ShiftHandle, task } from '../harness.ts';

export type Delivery = 'merge' | 'pr' | 'branch';
export const TASKS = ['make', 'polish'] as const;
export const REPOSITORY = 'repository';
export const INTO = 'nightshift/night/merged';

/** See workspace-agent.sh. The hook refuses what `refused` leaves; two rows that clash can't both be merged. */
export const KINDS = ['ok', 'commits', 'clash', 'ok', 'clash', 'refused'] as const;

/** For `clone`: rows share remotes. */
const REMOTES = ['one', 'two', 'three'];

export function git(folder: string, ...args: string[]): string {
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
  return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** Where the program keeps workspaces, mirrors and locks, and finds `gh`. */
export function environmentIn(project: Project): Record<string, string> {
  return {
    XDG_STATE_HOME: project.path('state'),
    XDG_CACHE_HOME: project.path('cache'),
    TMPDIR: project.path('tmp'),
    GH_STATE: project.path('pull-requests'),
    PATH: `${project.path('bin')}:${process.env.PATH}`,
    ...{ GIT_CONFIG_GLOBAL: project.path('gitconfig'), GIT_CONFIG_NOSYSTEM: '1' },
  };
}

/** Two tasks in one workspace, with a setup, a hook and a delivery. */
export function workspaceShift(project: Project, delivery: Delivery): ShiftHandle {
  for (const folder of ['tmp', 'bin', REPOSITORY]) mkdirSync(project.path(folder));
  copyFileSync(resolve('test/crash/gh.sh'), project.path('bin/gh'));
  project.write('pull-requests', '');
  project.write('gitconfig', '[user]\n\tname = Ada\n\temail = ada@example.org\n');
  makeRepository(project);
  const isClone = delivery === 'pr';
  if (isClone) for (const name of REMOTES) git(project.root, 'clone', '-q', '--bare', REPOSITORY, `${name}.git`);
  const rows = KINDS.map((kind, row) => `page ${row + 1},${kind},${REMOTES[row % REMOTES.length]},todo,todo`);
  const setup = ['- setup:', '  ~~~sh', '  echo ready > .setup', '  sleep 0.1', '  ~~~'].join('\n');
  return project.shift('night', {
    settings: {
      ...{ parallel: true, 'current-batch-size': 3, 'max-batch-size': 3, deliver: delivery },
      ...(isClone
        ? { workspace: 'clone', repo: `${project.root}/{remote}.git` }
        : { workspace: 'worktree', 'working-dir': REPOSITORY }),
      message: `Page {name}\n${setup}`,
    },
    table: `name,kind,remote,make,polish\n${rows.join('\n')}\n`,
    tasks: Object.fromEntries(TASKS.map((name) => [name, taskFile(name)])),
  });
}

/** A checkout with changes of a person: staged, not staged, and a file that git does not know. */
function makeRepository(project: Project): void {
  const folder = project.path(REPOSITORY);
  git(folder, 'init', '-q', '-b', 'main');
  for (const file of ['README.md', 'staged.txt']) project.write(`${REPOSITORY}/${file}`, 'first\n');
  project.write(`${REPOSITORY}/.gitignore`, '.setup\n');
  git(folder, 'add', '-A');
  git(folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-qm', 'First');
  project.write(`${REPOSITORY}/staged.txt`, 'second\n');
  git(folder, 'add', '-A');
  project.write(`${REPOSITORY}/README.md`, 'third\n');
  project.write(`${REPOSITORY}/unknown.txt`, 'unknown\n');
  project.write(`${REPOSITORY}/.git/hooks/pre-commit`, '#!/bin/sh\nsleep 0.05\n! test -e forbidden.txt\n');
  chmodSync(project.path(REPOSITORY, '.git/hooks/pre-commit'), 0o755);
}

function taskFile(name: string): string {
  const check = '   ```sh\n   test -s "$NIGHTSHIFT_TASK-$NIGHTSHIFT_ROW.txt"\n   ```';
  const isLast = name === TASKS.at(-1);
  return task({
    configuration: `- agent: command\n- command: ${resolve('test/crash/workspace-agent.sh')}`,
    steps: `1. ${name} {name}`,
    validation: `- The file is there\n\n${check}${isLast ? '\n\n- It reads well' : ''}`,
  });
}
