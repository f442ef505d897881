import { expect, test } from 'vitest';
import { agentTask, CALLS, Project, type ShiftHandle, shellTask, until } from '../harness.ts';

const SAMPLE = ['--sample', '6', '--seed', 'q'];

function names(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `n${i + 1}`);
}

function doneNames(shift: ShiftHandle): string[] {
  return shift.rows().flatMap(({ name, work }) => (work === 'done' ? [name!] : []));
}

function thirty(project: Project, name: string): ShiftHandle {
  return project.shift(name, {
    table: `name,work\n${names(30).join(',todo\n')},todo\n`,
    tasks: { work: agentTask('1. Do {name}', '- ok', '- outputs: url') },
    settings: { parallel: true },
  });
}

test('T7 a sample that was interrupted goes on with the same rows, also when others went and all moved meanwhile', async () => {
  const project = new Project();
  const report = { captured_values: { url: 'x' } };
  project.behave({ dev: { report } });
  const whole = thirty(project, 'whole');
  expect((await whole.start(SAMPLE)).code).toBe(0);
  const chosen = doneNames(whole);
  expect(chosen).toHaveLength(6);

  const night = thirty(project, 'night');
  project.write(CALLS, '');
  project.behave({ dev: { report, sh: 'until test -e go; do sleep 0.05; done' } });
  const running = project.launch(['start', 'night', ...SAMPLE]);
  await until(() => project.calls().length === 2, 'the first batch');
  const stop = project.launch(['stop', 'night']);
  await until(() => running.stdout.includes('stopping'), 'the drain');
  project.write('go', '');
  const interrupted = await running.ended;
  expect((await stop.ended).code).toBe(0);
  expect(interrupted.code).toBe(130);
  // The hint is the command that was given.
  expect(interrupted.stdout).toContain('`nightshift start night --sample 6 --seed q` continues.');
  const first = doneNames(night);
  expect(first).toHaveLength(2);

  // None of those that were not chosen matters, nor where they stand.
  const [header, ...rows] = night.tableText.trimEnd().split('\n');
  const others = rows.filter((row) => !chosen.includes(row.split(',')[0]!));
  const left = rows.filter((row) => !others.slice(0, 9).includes(row)).reverse();
  night.tableText = `${[header, ...left].join('\n')}\n`;
  const dry = JSON.parse((await night.start(['--dry-run', ...SAMPLE])).stdout);
  expect(dry.eligible).toBe(4);
  expect((await night.start(SAMPLE)).code).toBe(0);
  expect(doneNames(night).sort()).toEqual([...chosen].sort());
  // Again: all of them are done, so there is nothing more to do.
  const calls = project.calls().length;
  expect((await night.start(SAMPLE)).code).toBe(0);
  expect(project.calls()).toHaveLength(calls);
  // A larger one begins with these.
  expect((await night.start(['--sample', '8', '--seed', 'q'])).code).toBe(0);
  expect(doneNames(night)).toHaveLength(8);
  expect(doneNames(night)).toEqual(expect.arrayContaining(chosen));
});

test('M7 a run of a part says first how much of the shift that is, and when nothing is to do in it', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    table: 'name,make,read\na,todo,todo\nb,todo,todo\nc,todo,todo\nd,todo,todo\ne,todo,todo\n',
    tasks: { make: shellTask('test {name} != d'), read: shellTask('true') },
    settings: { agent: 'shell' },
  });
  const start = async (...args: string[]) => {
    const { code, stdout, stderr } = await project.run(['start', 'night', ...args]);
    expect(stderr).toBe('');
    return { code, stdout, lines: stdout.split('\n').filter((line) => !line.startsWith('no sandbox: ')) };
  };
  const how = 'agent shell, one at a time';

  expect((await start('--rows', '2:3', '--dry-run')).lines.slice(0, 2)).toEqual([
    '2 of 5 items chosen',
    '2 item-tasks can be dispatched now',
  ]);
  expect((await start('--dry-run')).stdout).not.toContain('chosen');
  const rows = await start('--rows', '2:3');
  expect([rows.code, rows.lines[0]]).toEqual([0, `night: 2 of 5 items, 2 tasks (make, read), ${how}`]);
  expect(rows.stdout).not.toContain('nothing to do');
  expect(rows.stdout).toContain('night: 5 items, 2 completed, 0 failed, 3 remaining');

  const before = shift.tableText;
  const again = await start('--rows', '2:3');
  expect([again.code, again.lines.slice(0, 3)]).toEqual([
    0,
    [`night: 2 of 5 items, 2 tasks (make, read), ${how}`, 'nothing to do in the selection: 4 done', ''],
  ]);
  // Nothing of it can be reached while the task before it is not done.
  const later = await start('--task', 'read');
  expect([later.code, later.lines.slice(0, 3)]).toEqual([
    0,
    [
      `night: 5 items, 1 of 2 tasks (read), ${how}`,
      'nothing to do in the selection: 2 done, 3 blocked by a task that is not done',
      '',
    ],
  ]);
  expect(shift.tableText).toBe(before);

  // What is at qa is judged only if it was chosen.
  shift.tableText = before.replace('e,todo', 'e,qa');
  const both = await start('--where', 'name=a', '--task', 'make');
  expect(both.lines.slice(0, 2)).toEqual([
    `night: 1 of 5 items, 1 of 2 tasks (make), ${how}`,
    expect.stringMatching(/^make: row 1$/),
  ]);
  expect(shift.column('make')).toEqual(['done', 'done', 'done', 'todo', 'qa']);

  const all = await start();
  expect([all.code, all.lines.slice(0, 2)]).toEqual([
    3,
    [`night: 5 items, 2 tasks (make, read), ${how}`, '1 item at qa from an earlier run: judged first'],
  ]);
  const failed = await start();
  expect([failed.code, failed.lines[1]]).toEqual([
    3,
    'nothing to do: 8 done, 1 failed, 1 blocked by a task that is not done',
  ]);
  const retried = await project.run(['retry', 'night', '--task', 'make']);
  const access = `no sandbox: agents work in ${project.root}; they can write, see and reach all that you can`;
  expect(retried.stdout).toContain(`\nnight: 1 of 5 items, 2 tasks (make, read), ${how}\n${access}\nmake: row 4\n`);
});
