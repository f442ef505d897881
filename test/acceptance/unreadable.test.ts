import { readdirSync, renameSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { agentTask, Project, type RunningProcess, type ShiftHandle, shellTask, sleep, until } from '../harness.ts';

const WAITS = { sh: 'until [ -e .nightshift/go ]; do sleep 0.05; done' };
const MODES = {
  sequential: {},
  batches: { parallel: true, 'current-batch-size': 2 },
  stream: { parallel: true, dispatch: 'stream', 'max-batch-size': 2 },
} as const;
type Mode = keyof typeof MODES;

/** Each leaves a file that can't be read, and answers what puts it right again. */
const BREAK: Record<string, { of: string; by: (shift: ShiftHandle) => () => void }> = {
  'a ragged table': { of: 'table.csv', by: editTable((text) => `${text}x,todo,more\n`) },
  'a table with an unknown status': { of: 'table.csv', by: editTable((text) => `${text}x,maybe\n`) },
  'a table without its rows': { of: 'table.csv', by: editTable((text) => text.slice(0, text.indexOf('\n') + 1)) },
  'a table that is gone': {
    of: 'table.csv',
    by: (shift) => {
      const [file, away] = [shift.project.path(shift.folder, 'table.csv'), shift.project.path('away.csv')];
      renameSync(file, away);
      return () => renameSync(away, file);
    },
  },
  'a table that is a folder': {
    of: 'table.csv',
    by: (shift) => {
      const whole = shift.tableText;
      rmSync(shift.project.path(shift.folder, 'table.csv'));
      shift.project.write(`${shift.folder}/table.csv/x`, '');
      return () => {
        rmSync(shift.project.path(shift.folder, 'table.csv'), { recursive: true });
        shift.tableText = whole;
      };
    },
  },
  'a manifest that is half saved': {
    of: 'manager.md',
    by: (shift) => {
      const whole = shift.manager;
      shift.manager = whole.slice(0, whole.indexOf('## Task Order'));
      return () => {
        shift.manager = whole;
      };
    },
  },
};

function editTable(edit: (text: string) => string) {
  return (shift: ShiftHandle) => {
    const whole = shift.tableText;
    shift.tableText = edit(whole);
    return () => {
      shift.tableText = whole;
    };
  };
}

/** a and b (one at a time: a) are at work until `.nightshift/go` is there; b then fails. */
async function atWork(
  mode: Mode,
  settings = {},
): Promise<{ project: Project; shift: ShiftHandle; running: RunningProcess }> {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { 'disable-self-improvement': true, ...MODES[mode], ...settings },
    table: 'name,work\na,todo\nb,todo\nc,todo\nd,todo\n',
    tasks: { work: agentTask() },
  });
  const fails = { report: { overall_status: 'FAILED (step 1)', error: 'b is broken' } };
  project.behave({ 'dev:a': WAITS, 'dev:b:1': { ...WAITS, ...fails }, 'dev:b': fails });
  const running = shift.spawn();
  for (const name of mode === 'sequential' ? ['a'] : ['a', 'b']) {
    await until(() => devs(project).includes(name), `the dev of ${name}`);
  }
  return { project, shift, running };
}

function devs(project: Project): string {
  const names = project.calls().filter((call) => call.role === 'dev' && !call.ended);
  return [...new Set(names.map(({ name }) => name))].sort().join('');
}

describe('F6 a file that can not be read while items are in flight', () => {
  const cases: [Mode, keyof typeof BREAK][] = [
    ['sequential', 'a ragged table'],
    ['batches', 'a table that is gone'],
    ['batches', 'a manifest that is half saved'],
    ['stream', 'a table with an unknown status'],
    ['stream', 'a table that is a folder'],
    ['batches', 'a table without its rows'],
    ['sequential', 'a table without its rows'],
    ['stream', 'a manifest that is half saved'],
  ];
  test.each(cases)('F6 %s: %s stops nothing that runs, and the run goes on when it is repaired', async (mode, name) => {
    const { project, shift, running } = await atWork(mode);
    const { of, by } = BREAK[name]!;
    const repair = by(shift);
    const begun = devs(project);
    // Of the table it is known before anybody needs it. A manifest is put back first.
    if (of === 'manager.md') project.write('.nightshift/go', '');
    await running.seen('run:warning', ({ message }) => /nothing new is started until/.test(message));
    project.write('.nightshift/go', '');
    await until(() => project.calls().some((call) => call.name === 'a' && call.ended), 'the end of a');
    expect(devs(project)).toBe(begun);
    repair();
    const { code, events, stderr } = await running.ended;
    expect([code, stderr, shift.column('work')]).toEqual([3, '', ['done', 'failed', 'done', 'done']]);
    const warnings = events.map(({ message }) => message).filter((text) => /nothing new|again/.test(text ?? ''));
    expect(warnings).toEqual([expect.stringContaining(of), `${of} can be read again: the run continues`]);
    // What ended meanwhile was done once, and is recorded with its reason.
    expect(project.calls().filter((call) => call.name === 'a' && call.role === 'dev' && !call.ended)).toHaveLength(1);
    const { stdout } = await project.run(['show', 'night', '2']);
    expect(stdout).toContain('b is broken');
  });

  test('F6 what takes longer than the shift is patient is finished and recorded; then the run ends', async () => {
    const runs = await Promise.all(
      (['sequential', 'batches', 'stream'] as const).map((m) => atWork(m, { patience: '1s' })),
    );
    for (const { project, shift, running } of runs) {
      shift.manager = shift.manager.replace('1. work', '1. work\n2. missing');
      await sleep(1500);
      project.write('.nightshift/go', '');
      const { code, stderr } = await running.ended;
      expect([code, stderr]).toEqual([2, expect.stringContaining('missing.md')]);
      const [a, b] = shift.column('work');
      expect([a, ['todo', 'failed'].includes(b!), devs(project).includes('c')]).toEqual(['done', true, false]);
    }
  });

  const forGood: [Mode, keyof typeof BREAK][] = [
    ['sequential', 'a table that is a folder'],
    ['batches', 'a ragged table'],
    ['stream', 'a table without its rows'],
    ['stream', 'a table that is gone'],
  ];
  test.each(forGood)('F6 %s: %s, and nobody repairs it: what ran is recorded, and the run ends', async (mode, name) => {
    const { project, shift, running } = await atWork(mode, { patience: '1s' });
    BREAK[name]!.by(shift);
    const broken = name === 'a table that is gone' ? [] : [expect.stringMatching(/^table\.csv\.put-back-/)];
    await running.seen('run:warning', ({ message }) => /nothing new is started until/.test(message));
    project.write('.nightshift/go', '');
    const { code, stderr } = await running.ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining('table.csv was restored to its last readable version')]);
    // A stream ends with the devs: a qa that has not judged by then is left to the next run.
    const { a, b } = {
      sequential: { a: ['done'], b: 'todo' },
      batches: { a: ['done'], b: 'failed' },
      stream: { a: ['qa', 'done'], b: 'failed' },
    }[mode];
    const [first, ...others] = shift.column('work');
    expect([a, others]).toEqual([expect.arrayContaining([first]), [b, 'todo', 'todo']]);
    expect(readdirSync(project.path(shift.folder)).filter((file) => file.includes('put-back'))).toEqual(broken);
    // The shift is as usable as before.
    expect(await shift.start()).toMatchObject({ code: 3, stderr: '' });
    expect(project.calls().filter((call) => call.name === 'a' && call.role === 'dev' && !call.ended)).toHaveLength(1);
  });

  test('F6 who stops a run whose table stays unreadable gets what ran recorded, and need not wait for its patience', async () => {
    const { project, shift, running } = await atWork('batches');
    BREAK['a ragged table']!.by(shift);
    await running.seen('run:warning', ({ message }) => /nothing new is started until/.test(message));
    project.write('.nightshift/go', '');
    running.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130, stderr: '' });
    expect(shift.column('work')).toEqual([expect.stringMatching(/^(qa|done)$/), 'failed', 'todo', 'todo']);
  });

  test('F6 who stops it at once is not told of an error', async () => {
    const project = new Project();
    const table = 'name,work\na,todo\nb,todo\n';
    const shift = project.shift('night', { table, tasks: { work: agentTask() } });
    project.behave({ dev: WAITS });
    const running = project.spawn(['start', 'night', '--plain']);
    await until(() => devs(project) === 'a', 'the dev of a');
    BREAK['a ragged table']!.by(shift);
    running.kill('SIGINT');
    await until(() => shift.journal().some(({ type }) => type === 'run:draining'), 'that it drains');
    running.kill('SIGINT');
    const { code, stdout, stderr } = await running.ended;
    expect([code, stderr]).toEqual([130, '']);
    expect(stdout).toMatch(/^stopped: interrupted/m);
  });

  test('F6 who stops the run meanwhile need not repair anything first', async () => {
    const { project, shift, running } = await atWork('sequential');
    BREAK['a manifest that is half saved']!.by(shift);
    project.write('.nightshift/go', '');
    await running.seen('item:recorded', ({ to }) => to === 'done');
    await running.seen('run:warning', ({ message }) => /nothing new is started until/.test(message));
    running.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130 });
    expect(shift.column('work')).toEqual(['done', 'todo', 'todo', 'todo']);
  });
});

describe('F6 a status that nobody has written', () => {
  test.each(Object.keys(MODES) as Mode[])(
    'F6 %s: rows that a spreadsheet appends without one are done',
    async (mode) => {
      const { project, shift, running } = await atWork(mode);
      project.behave({ 'dev:a': WAITS });
      shift.tableText = `${shift.tableText}e,\r\nf,""\r\n,\r\n,,,\r\n\r\n`;
      project.write('.nightshift/go', '');
      const { code } = await running.ended;
      expect([code, devs(project)]).toEqual([0, 'abcdef']);
      expect(shift.tableText).toMatch(/d,done\ne,done\r\nf,"done"\r\n,\r\n,,,\r\n\r\n$/);
    },
  );

  test('F6 counts as todo for every command, and its bytes stay until it is written', async () => {
    const project = new Project();
    const table = 'name,one,two\na,,\nb,done,\nc,failed," "\n,,\n';
    const tasks = { one: shellTask('echo {name} >> one.txt'), two: shellTask('true') };
    const shift = project.shift('night', { settings: { agent: 'shell' }, table, tasks });
    const json = async (...args: string[]) => JSON.parse((await project.run([...args, '--json'])).stdout);
    expect((await json('status', 'night')).counts).toMatchObject({ total: 3, failed: 1, remaining: 2 });
    expect((await json('table', 'night', 'show', '--status', 'todo', '--task', 'one')).rows).toEqual([
      { index: 0, name: 'a', one: 'todo', two: 'todo' },
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
