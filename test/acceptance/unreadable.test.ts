import { readdirSync, renameSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Gate } from '../gate.ts';
import { agentTask, Project, type Running, type ShiftHandle, shellTask, until } from '../harness.ts';

const MODES = {
  sequential: {},
  batches: { parallel: true, 'current-batch-size': 2 },
  stream: { parallel: true, dispatch: 'stream', 'max-batch-size': 2 },
} as const;
type Mode = keyof typeof MODES;

interface AtWork {
  project: Project;
  shift: ShiftHandle;
  running: Running;
  gate: Gate;
}

/** a and b (sequential: a) are at work until the gate is open; b then fails. */
async function atWork(mode: Mode, { settings = {}, args = ['--json'] } = {}): Promise<AtWork> {
  const project = new Project();
  const gate = new Gate(project);
  const shift = project.shift('night', {
    settings: { 'disable-self-improvement': true, ...MODES[mode], ...settings },
    table: 'name,work\na,todo\nb,todo\nc,todo\nd,todo\n',
    tasks: { work: agentTask() },
  });
  const waits = { sh: gate.wait };
  const fails = { report: { overall_status: 'FAILED (step 1)', error: 'b is broken' } };
  project.behave({ 'dev:a': waits, 'dev:b:1': { ...waits, ...fails }, 'dev:b': fails });
  const running = project.launch(['start', 'night', ...args]);
  const begun = mode === 'sequential' ? 'a' : 'ab';
  await until(() => devs(project) === begun, `the devs of ${begun}`);
  return { project, shift, running, gate };
}

function devs(project: Project): string {
  const names = project.calls().filter((call) => call.role === 'dev' && !call.ended);
  return [...new Set(names.map(({ name }) => name))].sort().join('');
}

async function warned(running: Running): Promise<void> {
  await running.seen('run:warning', ({ message }) => /nothing new is started until/.test(message));
}

describe('F6 a file that can not be read while items are in flight', () => {
  /** Breaks a file, and answers what repairs it. */
  const cases: [Mode, of: string, by: (shift: ShiftHandle) => () => void][] = [
    [
      'batches',
      'table.csv',
      (shift) => {
        const [file, away] = [shift.project.path(shift.folder, 'table.csv'), shift.project.path('away.csv')];
        renameSync(file, away);
        return () => renameSync(away, file);
      },
    ],
    [
      'stream',
      'manager.md',
      (shift) => {
        const whole = shift.manager;
        shift.manager = whole.slice(0, whole.indexOf('## Task Order'));
        return () => {
          shift.manager = whole;
        };
      },
    ],
  ];
  test.each(cases)(
    'F6 %s: %s stops nothing that runs, and the run goes on when it is repaired',
    async (mode, of, by) => {
      const { project, shift, running, gate } = await atWork(mode);
      const repair = by(shift);
      // Of the table it is known before anybody needs it. A manifest is put back first.
      if (of === 'manager.md') gate.open();
      await warned(running);
      gate.open();
      await until(() => project.calls().some((call) => call.name === 'a' && call.ended), 'the end of a');
      expect(devs(project)).toBe('ab');
      repair();
      const { code, events, stderr } = await running.ended;
      expect([code, stderr, shift.column('work')]).toEqual([3, '', ['done', 'failed', 'done', 'done']]);
      const warnings = events.map(({ message }) => message).filter((text) => /nothing new|again/.test(text ?? ''));
      expect(warnings).toEqual([expect.stringContaining(of), `${of} can be read again: the run continues`]);
      // What ended meanwhile was done once, and is recorded with its reason.
      expect(project.calls().filter((call) => call.name === 'a' && call.role === 'dev' && !call.ended)).toHaveLength(1);
      const { stdout } = await project.run(['show', 'night', '2']);
      expect(stdout).toContain('b is broken');
    },
  );

  test('F6 a table that nobody repairs: what ran is recorded in its last version, and the run ends', async () => {
    const { project, shift, running, gate } = await atWork('stream', { settings: { patience: '1s' } });
    shift.tableText = 'name,work\n';
    await warned(running);
    gate.open();
    const { code, stderr } = await running.ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining('table.csv was restored to its last readable version')]);
    expect(shift.column('work')).toEqual(['done', 'failed', 'todo', 'todo']);
    const kept = readdirSync(project.path(shift.folder)).filter((file) => file.includes('put-back'));
    expect(kept).toEqual([expect.stringMatching(/^table\.csv\.put-back-/)]);
    // The shift is as usable as before.
    expect(await shift.start()).toMatchObject({ code: 3, stderr: '' });
    expect(project.calls().filter((call) => call.name === 'a' && call.role === 'dev' && !call.ended)).toHaveLength(1);
  });

  test('F6 who stops a run whose table can not be read is not told of an error, and need not repair it first', async () => {
    const { shift, running, project } = await atWork('batches', { args: ['--plain'] });
    const broken = `${shift.tableText}x,todo,more\n`;
    shift.tableText = broken;
    expect(await project.run(['stop', 'night', '--now'])).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await running.ended;
    expect([code, stderr, stdout]).toEqual([130, '', expect.stringMatching(/^stopped: interrupted/m)]);
    expect(shift.tableText).toBe(broken);
  });
});

describe('F6 a status that nobody has written', () => {
  test('F6 rows that a spreadsheet appends without one are done', async () => {
    const { project, shift, running, gate } = await atWork('stream');
    project.behave({});
    shift.tableText = `${shift.tableText}e,\r\nf,""\r\n,\r\n,,,\r\n\r\n`;
    gate.open();
    const { code } = await running.ended;
    // b failed in its first attempt.
    expect([code, devs(project)]).toEqual([0, 'abcdef']);
    expect(shift.tableText).toMatch(/d,done\ne,done\r\nf,"done"\r\n,\r\n,,,\r\n\r\n$/);
  });

  test('F6 counts as todo for every command, and its bytes stay until it is written', async () => {
    const project = new Project();
    const table = 'name,one,two\na,,\nb,done,\nc,failed," "\n,,\n';
    const tasks = { one: shellTask('echo {name} >> one.txt'), two: shellTask('true') };
    const shift = project.shift('night', { settings: { agent: 'shell' }, table, tasks });
    const json = async (...args: string[]) => JSON.parse((await project.run([...args, '--json'])).stdout);
    expect((await json('status', 'night')).counts).toMatchObject({ total: 3, failed: 1, remaining: 2 });
    expect((await json('table', 'night', 'show', '--status', 'todo', '--task', 'one')).rows).toEqual([
      { row: 1, index: 0, name: 'a', one: 'todo', two: 'todo' },
    ]);
    expect((await json('table', 'night', 'search', '--exact', 'todo', '--select', 'two')).rows).toHaveLength(3);
    await project.run(['export', 'night', '--jsonl', 'out.jsonl']);
    const statuses = project
      .read('out.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).status);
    expect(statuses.filter((status) => status === 'todo')).toHaveLength(4);
    expect((await project.run(['doctor'])).stdout).not.toMatch(/status/);
    expect(await project.run(['table', 'night', 'reset', '--index', '0'])).toMatchObject({
      code: 0,
      stdout: '0 reset to todo\n',
    });
    expect(shift.tableText).toBe(table);
    expect(await project.run(['table', 'night', 'edit', 'one', '0', 'done'])).toMatchObject({ code: 2 });
    expect(await project.run(['table', 'night', 'edit', 'one', '0', 'in_progress'])).toMatchObject({ code: 0 });
    expect(shift.tableText).toBe(table.replace('a,,', 'a,in_progress,'));
    expect((await shift.start()).code).toBe(3);
    expect(shift.tableText).toBe('name,one,two\na,done,done\nb,done,done\nc,failed," "\n,,\n');
  });
});
