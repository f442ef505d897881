import { existsSync, readFileSync, renameSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type RunningProcess, sleep, task, until } from '../harness.ts';
import { describeServer } from '../kit/postgres.ts';
import { RepositoryFleet } from '../kit/repository-fleet.ts';
import { eventually } from './eventually.ts';

type Settings = Record<string, string | number | boolean>;

interface NightParts {
  readonly names?: readonly string[];
  readonly tasks?: readonly string[];
  readonly settings?: Settings;
  /** A qa is asked. */
  readonly isAsked?: boolean;
}

describeServer('git workspaces in a fleet', (postgres) => {
  /** `setup` makes a file that git ignores, and one that it does not. */
  function night({ names = ['x', 'y', 'z'], tasks = ['work'], settings = {}, isAsked = false }: NightParts = {}) {
    const fleet = new RepositoryFleet(postgres.url, { 'a.txt': 'a\n', '.gitignore': 'made\n' });
    const log = fleet.path('log');
    const check = '- The file is there\n\n   ```sh\n   test -s {name}.txt && test -e made\n   ```';
    const text = task({
      configuration: `- agent: command\n- command: ${resolve('test/fixtures/fleet-agent.sh')}\n- pass-env: FLEET_*`,
      steps: '1. Add a line',
      validation: isAsked ? `- It is good\n${check}` : check,
    });
    const shift = fleet.shift('night', {
      settings: {
        ...{ 'working-dir': 'repository', workspace: 'worktree', attempts: 2, setup: 'touch made; echo s > prepared' },
        ...{ deliver: 'branch', ...settings },
      },
      table: `name,${tasks.join(',')}\n${names.map((name) => `${name}${tasks.map(() => ',todo').join('')}\n`).join('')}`,
      tasks: Object.fromEntries(tasks.map((name) => [name, text])),
    });
    const played = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').sort() : []);
    const env = { FLEET_LOG: log, FLEET_FAIL: 'x first' };
    const worker = (name: string, args: readonly string[] = [], more = {}) =>
      fleet.worker(name, args, { ...env, ...more });
    return { fleet, shift, names, played, worker, log };
  }

  async function stop(...workers: RunningProcess[]): Promise<void> {
    for (const each of workers) each.kill('SIGTERM');
    for (const each of workers) expect((await each.ended).code, each.stderr).toBe(0);
  }

  const filesOf = (fleet: RepositoryFleet, commit: string, folder = 'repository') =>
    fleet.git(folder, 'ls-tree', '-r', '--name-only', commit).split('\n');

  test('qa and dev are on two workers; each goes on with what the relay has, and nothing stays there', async () => {
    const { fleet, shift, names, played, worker } = night({
      ...{ tasks: ['first', 'second'], isAsked: true, settings: { deliver: 'merge', 'qa-retries': 1 } },
    });
    const workers = [worker('one', ['--roles', 'dev']), worker('two', ['--roles', 'qa'])];
    const { code, stderr } = await fleet.coordinator().ended;
    expect([code, ...shift.rows()], stderr + JSON.stringify(shift.journal().slice(-6))).toEqual([
      0,
      ...names.map((name) => ({ name, first: 'done', second: 'done' })),
    ]);
    const each = names.flatMap((name) =>
      ['first', 'second'].flatMap((task) => [`dev ${task} ${name} one`, `qa ${task} ${name} two`]),
    );
    // It was sent back once, and went on with its own result.
    expect(played()).toEqual([...each, 'dev first x one', 'qa first x two'].sort());
    const merged = 'nightshift/night/merged';
    expect(filesOf(fleet, merged)).toEqual(['.gitignore', 'a.txt', 'x.txt', 'y.txt', 'z.txt']);
    expect(fleet.git('repository', 'show', `${merged}:x.txt`)).toBe('first\nfirst\nsecond');
    expect(fleet.git('repository', 'show', `${merged}:y.txt`)).toBe('first\nsecond');
    expect(fleet.relayRefs()).toEqual([]);
    await stop(...workers);
    expect(fleet.leftOnWorkers()).toEqual([]);
  });

  test('Q2 a qa that changes files in its workspace voids its verdict', async () => {
    const { fleet, shift, worker } = night({ names: ['x', 'y'], isAsked: true });
    const one = worker('one', [], { FLEET_SPOIL: 'x work' });
    const { code, stderr } = await fleet.coordinator().ended;
    expect([code, shift.column('work')], stderr).toEqual([3, ['failed', 'done']]);
    const voided = shift.journal().filter(({ type }) => type === 'verdict:voided');
    // It is asked once more.
    expect(voided).toMatchObject(Array(2).fill({ index: 0, changed: ['x.txt'] }));
    await stop(one);
  });

  test('a result waits for a remote that is away when the dev ends; nothing is done twice', async () => {
    const { fleet, shift, played, worker } = night({ names: ['y'] });
    const one = worker('one');
    const coordinator = fleet.coordinator();
    await until(() => played().length === 1, 'the dev');
    renameSync(fleet.path('remote.git'), fleet.path('away.git'));
    await until(() => /can't be pushed to.*retrying/.test(one.stdout), 'the worker to wait', 30_000);
    // Longer than a few quick tries.
    await sleep(8000);
    renameSync(fleet.path('away.git'), fleet.path('remote.git'));
    const { code, stderr } = await coordinator.ended;
    expect([code, ...shift.rows()], stderr + one.stdout).toEqual([0, { name: 'y', work: 'done' }]);
    expect(played()).toHaveLength(1);
    await stop(one);
  });

  test('a clone of `repo` is worked on by workers and pushed by the coordinator', async () => {
    const { fleet, shift, names, worker } = night({
      names: ['x', 'y'],
      settings: { workspace: 'clone', repo: './remote.git', 'working-dir': '.', deliver: 'push' },
    });
    const one = worker('one');
    const { code, stderr } = await fleet.coordinator().ended;
    expect([code, shift.column('work')], stderr).toEqual([0, names.map(() => 'done')]);
    for (const name of names) {
      expect(filesOf(fleet, `nightshift/night/${name}`, 'remote.git')).toEqual(['.gitignore', 'a.txt', `${name}.txt`]);
    }
    expect(fleet.relayRefs()).toEqual([]);
    await stop(one);
    expect(fleet.leftOnWorkers()).toEqual([]);
  });

  test('a coordinator that is killed after the push takes the results when it is back; nothing is done twice', async () => {
    const { fleet, shift, names, played, worker } = night();
    const one = worker('one');
    for (const at of ['order:ended', 'order:ended#2', 'row:arrived']) {
      const killed = await fleet.coordinator([], { NIGHTSHIFT_CRASH_AT: at }).ended;
      expect(killed.signal, at).toBe('SIGKILL');
    }
    const { code, stderr } = await fleet.coordinator().ended;
    expect([code, shift.column('work')], stderr).toEqual([0, names.map(() => 'done')]);
    expect(played()).toEqual(names.map((name) => `dev work ${name} one`));
    for (const name of names) expect(filesOf(fleet, `nightshift/night/${name}`)).toContain(`${name}.txt`);
    expect(fleet.relayRefs()).toEqual([]);
    await stop(one);
    expect(fleet.leftOnWorkers()).toEqual([]);
  });

  test('the next worker removes what a killed one left', async () => {
    const { fleet, played, worker, log } = night();
    fleet.write('log.hold', '');
    const one = worker('one');
    const coordinator = fleet.coordinator();
    await until(() => played().length > 0 && played()[0] !== '', 'an agent at work');
    for (const each of [one, coordinator]) each.kill('SIGKILL');
    await Promise.all([one.ended, coordinator.ended]);
    const left = fleet.leftOnWorkers();
    expect(
      left.some((path) => path.endsWith('prepared')),
      left.join('\n'),
    ).toBe(true);
    const next = worker('one');
    await until(() => fleet.leftOnWorkers().every((path) => !left.includes(path)), 'the removal');
    expect(existsSync(log)).toBe(true);
    await stop(next);
    expect(fleet.leftOnWorkers()).toEqual([]);
  });

  test.each([
    ['has no repository there', '/nowhere/'],
    ['gets no answer', 'git://127.0.0.1:1/'],
  ])('a worker that %s gets no orders with git workspaces, and `fleet status` says why', async (_, instead) => {
    const { fleet, shift, names, played, worker } = night();
    const elsewhere = `[url "${instead}"]\n\tinsteadOf = ${fleet.path('remote.git')}\n`;
    fleet.write('lost-gitconfig', `${fleet.read('gitconfig')}${elsewhere}`);
    const lost = worker('lost', [], { GIT_CONFIG_GLOBAL: fleet.path('lost-gitconfig') });
    const coordinator = fleet.coordinator();
    await until(
      () => /given back/.test(lost.stdout),
      () => lost.stdout,
    );
    // The killed coordinators of other tests have left shifts, for whose key this worker was not started either.
    let problems: string[] = [];
    await eventually('the reason in `fleet status`', async () => {
      problems = (await fleet.problemsOf('lost')).filter((each) => each.startsWith('workspace:git'));
      return problems.length > 0;
    });
    expect(problems).toEqual([expect.stringMatching(/remote\.git.*git ls-remote/)]);
    const one = worker('one');
    const { code, stderr } = await coordinator.ended;
    expect([code, shift.column('work')], stderr).toEqual([0, names.map(() => 'done')]);
    expect(played()).toEqual(names.map((name) => `dev work ${name} one`));
    await stop(one, lost);
  });

  test.each<[Settings, string, string]>([
    [{ workspace: 'copy', deliver: 'patch' }, '`workspace: copy` is not possible in a fleet', 'worktree'],
    [{ include: '.env' }, '`include: .env` is not possible in a fleet', 'setup'],
    [{}, 'needs a remote that all machines can reach', 'git remote add origin'],
  ])('what can not travel is refused before anything is claimed: %j', async (settings, cause, fix) => {
    const { fleet, shift } = night({ settings });
    if (Object.keys(settings).length === 0) fleet.git('repository', 'remote', 'remove', 'origin');
    const { code, stderr } = await fleet.coordinator().ended;
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(cause);
    expect(stderr).toContain(fix);
    expect(shift.column('work')).toEqual(['todo', 'todo', 'todo']);
  });
});
