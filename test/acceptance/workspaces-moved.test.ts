import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Running, type ShiftHandle, until } from '../harness.ts';
import { RepositoryProject } from '../kit/repository-project.ts';

const BRANCH = 'nightshift/night/one';

/** A person's hands: row 1 is at work until they let it go, row 2 comes after it. */
class Night {
  readonly project = new RepositoryProject();
  readonly shift: ShiftHandle;
  readonly running: Running;
  /** Of row 1. */
  folder = '';

  constructor(settings: Record<string, string | number | boolean>) {
    const wait = `test {name} != one || until test -e ${this.project.path('go')}; do sleep 0.05; done`;
    this.shift = this.project.rows(['one', 'two'], `echo {name} > {name}.txt; ${wait}`, settings);
    this.running = this.shift.launch([], { env: this.project.env });
  }

  async atWork(): Promise<void> {
    this.folder = (await this.running.seen('workspace:opened')).folder;
    await until(() => existsSync(join(this.folder, 'one.txt')), 'the work of row 1');
  }

  go(): void {
    this.project.write('go', '');
  }

  /** The reason with which row 1 goes back to where it was. */
  async returned(): Promise<string> {
    return (await this.running.seen('item:returned', ({ index }) => index === 0)).reason;
  }

  reasons(): string[] {
    const failed = this.running.events.filter(({ type, to }) => type === 'item:recorded' && to === 'failed');
    return failed.map(({ reason }) => reason);
  }

  /** What the branch of a row holds beside the base. */
  delivered(name: string, repository = 'repository'): string {
    return this.project.git(repository, 'diff', '--name-only', 'main', `nightshift/night/${name}`);
  }
}

test.each(['removed', 'renamed'])(
  'W7 a workspace that is %s while its row is at work fails the attempt, and the next one has it again',
  async (what) => {
    const night = new Night({ deliver: 'branch', attempts: 2 });
    await night.atWork();
    if (what === 'removed') rmSync(night.folder, { recursive: true });
    else renameSync(night.folder, night.project.path('moved'));
    night.go();
    const { code } = await night.running.ended;
    expect([code, night.shift.column('work')]).toEqual([0, ['done', 'done']]);
    const attempts = night.running.events.filter(({ type, index }) => type === 'attempt:finished' && index === 0);
    expect(attempts[0].reason).toContain(`its workspace ${night.folder} is gone`);
    expect([night.delivered('one'), night.delivered('two')]).toEqual(['one.txt', 'two.txt']);
    if (what === 'renamed') expect(night.project.read('moved/one.txt')).toBe('one\n');
  },
);

test.each([
  ['deleted', ['update-ref', '-d', `refs/heads/${BRANCH}`]],
  ['renamed', ['branch', '-m', BRANCH, 'mine']],
])('W7 W8 a branch that is %s while its row is at work is made again by the delivery', async (what, command) => {
  const night = new Night({ deliver: 'branch' });
  await night.atWork();
  night.project.git('repository', ...command);
  night.go();
  expect((await night.running.ended).code).toBe(0);
  expect([night.delivered('one'), night.delivered('two')]).toEqual(['one.txt', 'two.txt']);
  if (what === 'renamed') expect(night.project.git('repository', 'rev-parse', 'mine')).toMatch(/^\w{40}$/);
});

test('W7 W8 a branch that is deleted or taken after its row is done is made again, or the row says who has it', async () => {
  const night = new Night({ deliver: 'branch' });
  const { project } = night;
  night.go();
  await night.running.ended;
  const again = async () => {
    await project.command(['table', 'night', 'reset', '--row', '1']);
    return project.command(['start', 'night', '--plain']);
  };
  project.git('repository', 'branch', '-D', BRANCH);
  expect([(await again()).code, night.delivered('one')]).toEqual([0, 'one.txt']);
  const theirs = project.git('repository', 'commit-tree', '-p', 'main', '-m', 'by a person', 'main^{tree}');
  project.git('repository', 'branch', '-f', BRANCH, theirs);
  const refused = await again();
  const reason = `the branch ${BRANCH} of the repository has work of others: it is at ${theirs.slice(0, 7)} by a person`;
  expect([refused.code, refused.stdout]).toEqual([3, expect.stringContaining(reason)]);
  expect(project.git('repository', 'rev-parse', BRANCH)).toBe(theirs);
});

test.each(['branch', 'merge'])(
  'W7 a repository that is moved away while a row is at work: the row waits, a sentence names it, and nothing is lost (%s)',
  async (deliver) => {
    const night = new Night({ deliver });
    await night.atWork();
    renameSync(night.project.path('repository'), night.project.path('elsewhere'));
    night.go();
    expect(await night.returned()).toBe(`${night.project.path('repository')} is gone`);
    renameSync(night.project.path('elsewhere'), night.project.path('repository'));
    expect((await night.running.ended).code).toBe(0);
    expect(night.shift.column('work')).toEqual(['done', 'done']);
    const branch = deliver === 'merge' ? 'merged' : 'one';
    expect(night.delivered(branch)).toBe(deliver === 'merge' ? 'one.txt\ntwo.txt' : 'one.txt');
  },
);

test('W7 a repository that is moved away between two runs is an error at start, and its workspaces are kept until it is back', async () => {
  const night = new Night({ deliver: 'none' });
  const { project } = night;
  night.go();
  await night.running.ended;
  const repository = project.path('repository');
  renameSync(repository, project.path('elsewhere'));
  await project.command(['table', 'night', 'reset', '--row', '2']);
  const told = async (...args: string[]) => {
    const { code, stdout, stderr } = await project.command(args);
    return `${code}: ${stdout}${stderr}`;
  };
  const needed = `\`workspace: worktree\` needs a git repository, and ${repository} is not in one`;
  expect(await told('start', 'night', '--plain')).toContain(`2: error: ${needed}`);
  expect(await told('doctor')).toContain(`problem  night: ${needed}`);
  expect(await told('workspaces', 'night')).toContain(`row 1 one: kept: ${repository} is gone; change unknown`);
  expect(await told('show', 'night', '1')).toContain(`workspace: kept: ${repository} is gone`);
  expect(await told('diff', 'night', '1')).toContain(
    `2: error: the change of row 1 can't be read: ${repository} is gone`,
  );
  expect(await told('workspaces', 'prune')).toContain('kept: row 1 one');
  renameSync(project.path('elsewhere'), repository);
  expect(await told('diff', 'night', '1')).toContain('+one');
});

test('W8 a remote that is gone when a row is delivered fails it with a sentence, and a retry pushes it when it is back', async () => {
  const night = new Night({ deliver: 'push' });
  await night.atWork();
  renameSync(night.project.path('remote.git'), night.project.path('elsewhere'));
  night.go();
  await night.running.ended;
  expect(night.reasons()[0]).toContain(`origin can't be reached: fatal: '${night.project.path('remote.git')}'`);
  renameSync(night.project.path('elsewhere'), night.project.path('remote.git'));
  expect((await night.project.command(['retry', 'night', '--plain'])).code).toBe(0);
  expect([night.delivered('one', 'remote.git'), night.delivered('two', 'remote.git')]).toEqual(['one.txt', 'two.txt']);
});
