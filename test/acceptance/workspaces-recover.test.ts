import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { environmentIn, workspaceShift } from '../crash/workspace-shift.ts';
import { type Ended, Project } from '../harness.ts';
import { RepositoryProject } from '../kit/repository-project.ts';

test('W7 a workspace whose row is gone from the table is kept and named at the next start', async () => {
  const shift = workspaceShift(new Project(), 'branch');
  const env = environmentIn(shift.project);
  const killed = await shift.spawn([], { env: { ...env, NIGHTSHIFT_CRASH_AT: 'workspace:kept#1' } }).ended;
  expect(killed.signal).toBe('SIGKILL');
  // The first batch has three rows. One of them is all that is left to do.
  const [header, first, second] = shift.tableText.split('\n');
  const opened = killed.events.find((event) => event.type === 'workspace:opened' && event.index === 0);
  shift.tableText = `${header}\n${second}\n`;
  expect(first).toMatch(/^page 1,/);
  const { code, events } = await shift.spawn([], { env }).ended;
  expect(code).toBe(0);
  const warnings = events.filter(({ type }) => type === 'run:warning').map(({ message }) => message);
  const sentence = 'the table no longer has the rows of these workspaces, which are kept: ';
  const named = warnings.find((message) => message.startsWith(sentence));
  const folders = named?.slice(sentence.length).split(', ');
  expect(folders).toContain(opened.folder);
  const stillThere = events.find((event) => event.type === 'workspace:opened');
  expect(folders).not.toContain(stillThere.folder);
  expect(existsSync(opened.folder)).toBe(true);
});

test('W4 a hook that an agent wrote before a kill is not used by the run that resumes, and is told', async () => {
  const project = new RepositoryProject();
  const hook = project.path('repository/.git/hooks/pre-commit');
  // The attempt that writes it fails.
  const write = `printf '#!/bin/sh\\necho evil >&2; exit 1\\n' > ${hook}; chmod +x ${hook}`;
  const step = `test -e ${hook} || { ${write}; }; echo {name} > "{name}.txt"`;
  const shift = project.rows(['one', 'two'], step, { deliver: 'branch', attempts: 2 });
  const warningsOf = ({ events }: Ended) =>
    events.flatMap(({ type, message }) => (type === 'run:warning' ? message : []));
  const env = { ...project.env, NIGHTSHIFT_CRASH_AT: 'workspace:kept#1' };
  expect((await shift.spawn([], { env }).ended).signal).toBe('SIGKILL');
  const resumed = await shift.spawn([], { env: project.env }).ended;
  expect([resumed.code, shift.column('work')]).toEqual([0, ['done', 'done']]);
  expect(warningsOf(resumed)).toContainEqual(
    expect.stringMatching(/repository: the hook pre-commit changed since the run that was killed began/),
  );
  // That one has ended by itself: the next one takes the hook as it is.
  shift.tableText = `${shift.tableText}three,todo\n`;
  const next = await shift.spawn([], { env: project.env }).ended;
  expect([next.code, shift.column('work')]).toEqual([3, ['done', 'done', 'failed']]);
  expect(JSON.stringify(next.events)).toContain('the commit was refused: evil');
});

test('W4 W8 W11 settings that an agent breaks are told, and the rows after it are delivered', async () => {
  const project = new RepositoryProject();
  const config = project.path('repository/.git/config');
  const step = `echo {name} > "{name}.txt"; test {name} != one || { folder=$(git rev-parse --git-common-dir) && echo "[[[" >> "$folder/config" || true; }`;
  const shift = project.rows(['one', 'two', 'three'], step, { deliver: 'merge', attempts: 2 });
  const before = project.read('repository/.git/config');
  const ended = await shift.spawn([], { env: project.env }).ended;
  expect([ended.code, shift.column('work')]).toEqual([0, ['done', 'done', 'done']]);
  const attempts = ended.events.filter(({ type, index }) => type === 'attempt:finished' && index === 0);
  expect(attempts).toMatchObject([
    { reason: expect.stringMatching(/it changed \.git\/config.* of .*repository, outside of its workspace/) },
    { status: 'SUCCESS' },
  ]);
  expect((await project.command(['doctor'])).stdout).toMatch(/git can't use the repository of .*bad config line/);
  writeFileSync(config, before);
  expect(project.git('repository', 'log', '--format=%s', 'main..nightshift/night/merged').split('\n')).toHaveLength(3);
});
