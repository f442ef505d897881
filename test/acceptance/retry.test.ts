import { expect, test } from 'vitest';
import { agentTask, CALLS, isAlive, Project, processIn, type ShiftHandle, shellTask, until } from '../harness.ts';

/** What the dev was asked to do, in any order. */
function done(project: Project, task?: string): string[] {
  const devs = project.calls().filter(({ role, ended }) => role === 'dev' && !ended);
  return [...new Set(devs.filter((call) => task === undefined || call.task === task).map(({ name }) => name))].sort();
}

const suggestions = (text: string) => text.match(/`nightshift [^`]*`/g);

/** Three rows whose dev fails for two reasons, one that is done, one that was never tried. */
async function withFailures(): Promise<{ project: Project; shift: ShiftHandle }> {
  const project = new Project();
  const shift = project.shift('night', {
    table: 'name,work,more\na,todo,todo\nb,todo,todo\nc,todo,todo\nd,todo,todo\ne,todo,todo\n',
    tasks: { work: agentTask(), more: agentTask() },
    settings: { parallel: true, 'current-batch-size': 9, attempts: 1 },
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
  expect(dry.stdout).toMatch(/row 1 a: work: .*Quota used up\nrow 3 c: work: .*quota of c/);
  expect(dry.stdout).not.toContain('row 2');
  expect(shift.tableText).toBe(before);
  expect(project.calls()).toEqual([]);

  const { code, stdout } = await project.run(['retry', 'night', '--reason', 'quota']);
  expect(stdout).toMatch(/^2 reset to todo/m);
  expect(code).toBe(0);
  expect(shift.column('work')).toEqual(['done', 'failed', 'done', 'done', 'todo']);
  expect(shift.column('more')).toEqual(['done', 'todo', 'done', 'done', 'todo']);
  expect(done(project)).toEqual(['a', 'c']);
  // The second dev was told why the first failed (rule D1).
  expect(project.calls()[0].prompt).toContain('uota');
});

test('M7 retry runs what failed and the later tasks of those rows, and nothing else; --task and --rows choose among failures', async () => {
  const { project, shift } = await withFailures();
  const events = (await project.run(['retry', '--rows', '2', '--task', 'work', '--json'])).events;
  expect(events.at(-1)).toMatchObject({ type: 'run:finished' });
  expect(shift.column('work')).toEqual(['failed', 'done', 'failed', 'done', 'todo']);
  expect(shift.column('more')).toEqual(['todo', 'done', 'todo', 'done', 'todo']);
  const dry = await project.run(['retry', '--dry-run']);
  expect(dry.stdout).toMatch(/^2 item-tasks would be reset to todo\. Nothing was written, no agent was started\.$/m);
  expect((await project.run(['retry', '--max-failures', '9'])).code).toBe(0);
  expect(shift.column('work')).toEqual(['done', 'done', 'done', 'done', 'todo']);
  expect(shift.column('more')).toEqual(['done', 'done', 'done', 'done', 'todo']);
  expect(done(project)).toEqual(['a', 'b', 'c']);

  const none = await project.run(['retry']);
  expect([none.code, none.stdout]).toEqual([
    0,
    'Nothing has failed. `nightshift start night` does the 1 item-task left.\n',
  ]);
  expect(shift.column('work').at(-1)).toBe('todo');
});

test('M7 retry --all also runs everything else that is left, and is continued by a start', async () => {
  const { project, shift } = await withFailures();
  const dry = await project.run(['retry', '--all', '--dry-run']);
  expect(dry.stdout).toMatch(/^3 item-tasks .* With --all, 1 other item-task would be run too\./m);
  const limited = await project.run(['retry', '--all', '--max-failures', '1']);
  expect(limited.code).toBe(0);
  expect([...shift.column('work'), ...shift.column('more')]).toEqual(new Array(10).fill('done'));
});

test('M7 after a run with failures there is one suggestion: to retry, or to continue what was stopped', async () => {
  const { project, shift } = await withFailures();
  const part = await project.run(['start', '--rows', '1', '--max-failures', '9', '--where', 'name=a']);
  expect(suggestions(part.stdout)).toEqual(['`nightshift retry night --max-failures 9`']);
  expect(suggestions((await project.run(['status'])).stdout)).toEqual(['`nightshift retry night --max-failures 9`']);
  const fails = { report: { overall_status: 'FAILED (step 1)', error: 'again' } };
  project.behave({ 'dev:a': fails, 'dev:b': fails, 'dev:c': fails });
  shift.manager = shift.manager.replace('current-batch-size: 9', 'current-batch-size: 1');
  const stopped = await project.run(['retry', '--reason', 'quota', '--max-failures', '1']);
  expect(stopped.code).toBe(4);
  expect(suggestions(stopped.stdout)).toEqual(['`nightshift retry night --reason quota --max-failures 1`']);
});

test('M7 the same retry continues one that was interrupted, with the same rows and no others', async () => {
  const { project, shift } = await withFailures();
  shift.manager = shift.manager.replace('parallel: true', 'parallel: false');
  project.behave({ 'dev:c': { sh: 'until test -e go; do sleep 0.1; done' } });
  const running = project.launch(['retry', '--reason', 'quota', '--plain']);
  await until(() => shift.column('more')[0] === 'done' && project.calls().at(-1).name === 'c', 'the second row');
  expect((await project.run(['stop', '--now'])).code).toBe(0);
  const { stdout } = await running.ended;
  expect(stdout).toMatch(/stopped: interrupted\. `nightshift retry night --reason quota` continues\.$/m);
  expect(shift.column('work')).toEqual(['done', 'failed', 'todo', 'done', 'todo']);
  project.write('go', '');
  expect((await project.run(['retry', 'night', '--reason', 'quota'])).code).toBe(0);
  expect(shift.column('work')).toEqual(['done', 'failed', 'done', 'done', 'todo']);
  expect(shift.column('more')).toEqual(['done', 'todo', 'done', 'done', 'todo']);
  // It has ended: what is asked for now is another one.
  expect((await project.run(['retry', 'night', '--reason', 'quota'])).code).toBe(2);
});

test('M7 X8 retry --detach runs in the background what it chose, tells its items, and a kill leaves the same command', async () => {
  const { project, shift } = await withFailures();
  project.behave({ dev: { sh: 'until test -e go; do sleep 0.05; done' } });
  const begun = await project.run(['retry', '--rows', '3,1', '--detach']);
  expect([begun.code, begun.stdout]).toEqual([
    0,
    expect.stringMatching(/^2 failed item-tasks to retry\nnight runs in the background: /),
  ]);
  const pid = processIn(begun);
  const last = () => shift.journal().findLast(({ type }) => type === 'run:started');
  await until(() => shift.column('work')[0] === 'in_progress' && last().command === 'retry', 'the retry at work');
  const started = last();
  expect(started).toMatchObject({ command: 'retry', flags: ['--rows=3,1'] });
  expect(Object.values(started.selection.items)).toEqual(['work', 'work']);
  process.kill(pid, 'SIGKILL');
  const status = async () => (await project.run(['status'])).stdout;
  await until(() => !isAlive(pid), 'the end of the process');
  const left = await status();
  expect(suggestions(left), left).toEqual(['`nightshift retry night --rows 3,1`']);
  project.write('go', '');
  expect((await project.run(['retry', 'night', '--rows', '3,1'])).code).toBe(0);
  expect(shift.column('work')).toEqual(['done', 'failed', 'done', 'done', 'todo']);
});

test.each(['batch', 'stream'])('P4 a run of a part never writes current-batch-size (%s)', async (dispatch) => {
  const project = new Project();
  const shift = project.shift('night', {
    table: `name,work\n${'abcde'.replace(/./g, '$&,todo\n')}`,
    tasks: { work: shellTask('case {name} in c) test -e go;; esac') },
    settings: { agent: 'shell', parallel: true, dispatch, 'current-batch-size': 2 },
  });
  const parts = [
    ['--rows', '1:2'],
    ['--where', 'name=c'],
    ['--task', 'work', '--rows', '3:4'],
    ['--sample', '5'],
  ];
  for (const part of parts) {
    const { events } = await shift.start(part);
    expect(events.at(-1)).toMatchObject({ type: 'run:finished', exitCode: part[0] === '--rows' ? 0 : 3 });
    expect(shift.manager).toContain('current-batch-size: 2\n');
  }
  project.write('go', '');
  expect((await project.run(['retry'])).code).toBe(0);
  expect(shift.manager).toContain('current-batch-size: 2\n');
  expect(shift.manager).toContain('- Completed: 5');
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
  const running = shift.launch(['--rows', '5']);
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
  expect((await three.start(['--where', 'place=Oslo', '--sample', '9'])).stderr).toMatch(/--seed \w+ picks the same/);
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
  const running = shift.launch(['--where', 'place=Oslo']);
  await until(() => project.calls().length > 0, 'the first dev');
  shift.tableText = shift.tableText.replace('a,Rome', 'new,Oslo,todo\na,Rome');
  project.write('go', '');
  const { code } = await running.ended;
  expect(code).toBe(0);
  expect(done(project)).toEqual(['b', 'd']);
  expect(shift.column('work')).toEqual(['todo', 'todo', 'done', 'todo', 'done']);
});
