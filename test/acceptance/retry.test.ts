import { expect, test } from 'vitest';
import { agentTask, CALLS, Project, type ShiftHandle, shellTask, until } from '../harness.ts';

/** What the dev was asked to do, in any order. */
function done(project: Project, task?: string): string[] {
  const devs = project.calls().filter(({ role, ended }) => role === 'dev' && !ended);
  return [...new Set(devs.filter((call) => task === undefined || call.task === task).map(({ name }) => name))].sort();
}

/** Three rows whose dev fails for two reasons, one that is done, one that was never tried. */
async function withFailures(): Promise<{ project: Project; shift: ShiftHandle }> {
  const project = new Project();
  const shift = project.shift('night', {
    table: 'name,work,more\na,todo,todo\nb,todo,todo\nc,todo,todo\nd,todo,todo\ne,todo,todo\n',
    tasks: { work: agentTask(), more: agentTask() },
    settings: { parallel: true, 'current-batch-size': 9 },
  });
  const fails = (error: string) => ({ report: { overall_status: 'FAILED (step 1)', error } });
  project.behave({
    'dev:a': fails('Quota used up'),
    'dev:b': fails('page missing'),
    'dev:c': fails('quota of c used up'),
  });
  await shift.start(['--rows', '1:4']);
  expect(shift.column('work')).toEqual(['failed', 'failed', 'failed', 'done', 'todo']);
  project.behave({});
  project.write(CALLS, '');
  return { project, shift };
}

test('retry --reason sets back and runs only what failed for that reason, through all of its tasks', async () => {
  const { project, shift } = await withFailures();
  const before = shift.tableText;
  const dry = await project.run(['retry', '--reason', 'quota', '--dry-run']);
  expect([dry.code, dry.stderr]).toEqual([0, '']);
  expect(dry.stdout).toMatch(/row 1 work: .*Quota used up\nrow 3 work: .*quota of c/);
  expect(dry.stdout).not.toContain('row 2');
  expect(shift.tableText).toBe(before);
  expect(project.calls()).toEqual([]);

  const { code, stdout } = await project.run(['retry', 'night', '--reason', 'quota']);
  expect(stdout).toContain('2 item-tasks set back to todo');
  expect(code).toBe(0);
  expect(shift.column('work')).toEqual(['done', 'failed', 'done', 'done', 'todo']);
  expect(shift.column('more')).toEqual(['done', 'todo', 'done', 'done', 'todo']);
  expect(done(project)).toEqual(['a', 'c']);
  // The second dev was told why the first failed (rule D1).
  expect(project.calls()[0].prompt).toContain('uota');
});

test('retry alone sets back all that failed and goes on with all that is left; --task and --rows narrow it', async () => {
  const { project, shift } = await withFailures();
  const events = (await project.run(['retry', '--rows', '2', '--task', 'work', '--json'])).events;
  expect(events.at(-1)).toMatchObject({ type: 'run:finished' });
  expect(shift.column('work')).toEqual(['failed', 'done', 'failed', 'done', 'todo']);
  expect(shift.column('more')).toEqual(['todo', 'todo', 'todo', 'done', 'todo']);
  const dry = await project.run(['retry', '--dry-run']);
  // Row 5, and the second task of row 2.
  expect(dry.stdout).toMatch(
    /^2 item-tasks would be set back to todo\. 2 others would be run too; --only leaves them\./m,
  );
  const { code } = await project.run(['retry']);
  expect(code).toBe(0);
  expect([...shift.column('work'), ...shift.column('more')]).toEqual(new Array(10).fill('done'));
  expect(done(project, 'work')).toEqual(['a', 'b', 'c', 'e']);
});

test('retry --only runs what was set back and nothing else, and is what a run with failures suggests while others are left', async () => {
  const { project, shift } = await withFailures();
  const { stdout } = await project.run(['start', '--rows', '1', '--max-failures', '9', '--where', 'name=a']);
  expect(stdout).toContain('`nightshift retry night --max-failures 9 --only` tries the failed ones again.');
  project.behave({ 'dev:c': { report: { overall_status: 'FAILED (step 1)', error: 'again' } } });
  const only = await project.run(['retry', '--only', '--max-failures', '9']);
  expect(only.stdout).toContain('`nightshift retry night --max-failures 9 --only` tries the failed ones again.');
  expect(shift.column('work')).toEqual(['done', 'done', 'failed', 'done', 'todo']);
  expect(done(project, 'work')).toEqual(['a', 'b', 'c']);
});

test('retry changes nothing where it could not start, and agents may not call it', async () => {
  const { project, shift } = await withFailures();
  const before = shift.tableText;
  const none = await project.run(['retry', '--reason', 'no such thing']);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('no failure of night')]);
  const typo = await project.run(['retry', '--task', 'wrok']);
  expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('did you mean work?')]);
  expect((await project.run(['retry', '--agent', 'nobody'])).code).toBe(2);
  expect((await project.run(['retry'], { env: { NIGHTSHIFT_ROLE: 'dev' } })).code).toBe(2);
  expect(shift.tableText).toBe(before);

  project.behave({ dev: { sh: 'until test -e go; do sleep 0.1; done' } });
  const running = shift.spawn(['--rows', '5']);
  await until(() => project.calls().length > 0, 'the first dev');
  const second = await project.run(['retry']);
  expect([second.code, second.stderr]).toEqual([5, expect.stringContaining('already being run')]);
  expect(shift.column('work').slice(0, 4)).toEqual(['failed', 'failed', 'failed', 'done']);
  project.write('go', '');
  await running.ended;
});

test('start --sample takes so many rows, the same with the same seed; --where narrows, and all must hold', async () => {
  const places = ['Rome', 'Oslo', 'Oslo', 'Rome', 'Oslo', 'Oslo', 'Oslo', 'Rome'];
  const rows = places.map((place, i) => `r${i},${place},${i % 2 ? 'big' : 'small'},${i === 2 ? 'done' : 'todo'}\n`);
  const project = new Project();
  const make = (name: string) =>
    project.shift(name, {
      table: `name,place,size,work\n${rows.join('')}`,
      tasks: { work: shellTask('true') },
      settings: { agent: 'shell' },
    });
  const doneRows = (shift: ShiftHandle) => shift.rows().flatMap((row) => (row.work === 'done' ? [row.name] : []));
  const [one, two, three] = [make('one'), make('two'), make('three')];
  for (const shift of [one, two]) expect((await shift.start(['--sample', '3', '--seed', '7'])).code).toBe(0);
  expect(doneRows(one).length).toBeGreaterThan(2);
  expect(doneRows(two)).toEqual(doneRows(one));
  // What is left to do may be said to be all that is drawn from.
  for (const seed of ['1', '2', '3']) {
    const { stdout } = await three.start(['--dry-run', '--where', 'work=todo', '--sample', '7', '--seed', seed]);
    expect(JSON.parse(stdout).eligible).toBe(7);
  }
  const seeds = ['1', '2', '3', '4'].map((seed) => three.start(['--dry-run', '--sample', '3', '--seed', seed]));
  expect(new Set((await Promise.all(seeds)).map(({ stdout }) => stdout)).size).toBeGreaterThan(1);

  expect((await three.start(['--where', 'place=Oslo', '--where', 'size=big', '--rows', '3:'])).code).toBe(0);
  expect(doneRows(three)).toEqual(['r2', 'r5']);
  expect((await three.start(['--where', 'place=Oslo', '--sample', '9'])).stderr).toMatch(/--seed \w+ makes the same/);
  expect(doneRows(three)).toEqual(['r1', 'r2', 'r4', 'r5', 'r6']);
  const before = three.tableText;
  for (const [args, says] of [
    [['--where', 'plaec=Oslo'], 'did you mean place?'],
    [['--where', 'place=oslo'], 'no row has place=oslo'],
    [['--where', 'place'], 'is not column=value'],
    [['--sample', '0'], 'not a number of rows'],
    [['--seed', '1'], 'only for --sample'],
  ] as const) {
    const { code, stderr } = await three.start(args);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(says)]);
  }
  expect(three.tableText).toBe(before);
});

test('rows that were chosen stay the same ones when others are inserted above them', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    table: 'name,place,work\na,Rome,todo\nb,Oslo,todo\nc,Rome,todo\nd,Oslo,todo\n',
    tasks: { work: agentTask() },
  });
  project.behave({ 'dev:b': { sh: 'until test -e go; do sleep 0.1; done' } });
  const running = shift.spawn(['--where', 'place=Oslo']);
  await until(() => project.calls().length > 0, 'the first dev');
  shift.tableText = shift.tableText.replace('a,Rome', 'new,Oslo,todo\na,Rome');
  project.write('go', '');
  const { code } = await running.ended;
  expect(code).toBe(0);
  expect(done(project)).toEqual(['b', 'd']);
  expect(shift.column('work')).toEqual(['todo', 'todo', 'done', 'todo', 'done']);
});
