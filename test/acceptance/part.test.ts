import { expect, test } from 'vitest';
import { agentTask, CALLS, Project, type ShiftHandle, until } from '../harness.ts';

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
  const running = project.spawn(['start', 'night', ...SAMPLE]);
  await until(() => project.calls().length === 2, 'the first batch');
  running.kill('SIGINT');
  await until(() => running.stdout.includes('stopping'), 'the answer to Ctrl-C');
  project.write('go', '');
  const interrupted = await running.ended;
  expect(interrupted.code).toBe(130);
  // The hint is the command that was given.
  expect(interrupted.stdout).toContain('`nightshift start night --sample 6 --seed q` goes on.');
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
