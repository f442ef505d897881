import { execFile, execFileSync, spawn } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { localTime } from '../../src/core/text/local-time.ts';
import {
  agentTask,
  Project,
  processesOf,
  type RunningProcess,
  type ShiftHandle,
  shellTask,
  until,
} from '../harness.ts';

const run = promisify(execFile);
const STATUSES = ['todo', 'in_progress', 'qa', 'done', 'failed'];

/** A dev that works until the test says go. */
const waits = { sh: 'until [ -e "go" ] || [ -e "go-$NIGHTSHIFT_INDEX" ]; do sleep 0.1; done' };

/** Rows of name, note and one status column `work`. */
function table(rows: Record<string, string>): string {
  return `name,note,work\n${Object.entries(rows)
    .map(([name, status]) => `${name},about ${name},${status}\n`)
    .join('')}`;
}

function todo(names: string): Record<string, string> {
  return Object.fromEntries([...names].map((name) => [name, 'todo']));
}

/** A shift whose batches are of `size` items at first, for the agent fixture. */
function agentShift(project: Project, rows: Record<string, string>, size = 2, name = 'night'): ShiftHandle {
  return project.shift(name, {
    settings: { parallel: true, 'current-batch-size': size, 'disable-self-improvement': true },
    table: table(rows),
    tasks: { work: agentTask() },
  });
}

/** Edits the table in place, as an editor does that knows of no lock: its lines, the header first. */
function edit(shift: ShiftHandle, change: (lines: string[]) => string[]): void {
  shift.tableText = `${change(shift.tableText.trimEnd().split('\n')).join('\n')}\n`;
}

/** With another text in one line. */
function inLine(index: number, from: string | RegExp, to: string): (lines: string[]) => string[] {
  return (lines) => lines.with(index, lines[index]!.replace(from, to));
}

const statusOf = (shift: ShiftHandle, name: string) => shift.rows().find((row) => row.name === name)?.work;
const devCalls = (project: Project, name?: string) =>
  project.calls().filter((call) => call.role === 'dev' && !call.ended && (name === undefined || call.name === name));
const allCalled = (project: Project, count: number) =>
  until(() => devCalls(project).length >= count, `${count} devs to be at work`);
const lives = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('T1 the five values and the arrows', () => {
  test('T1 a write of another value, or along no arrow of the picture, is refused and changes nothing', async () => {
    const project = new Project();
    const shift = agentShift(project, Object.fromEntries(STATUSES.map((status) => [status, status])));
    const before = shift.tableText;
    const arrows = [
      ...['todo in_progress', 'in_progress qa', 'in_progress failed', 'in_progress todo', 'qa done', 'qa failed'],
      ...['qa todo', 'done todo', 'failed todo'],
    ];
    const along = STATUSES.flatMap((from, index) => STATUSES.map((to) => ({ arrow: `${from} ${to}`, index, to })));
    const wrong = [
      ...along.filter(({ arrow }) => !arrows.includes(arrow)),
      ...['DONE', 'finished', ''].map((to) => ({ index: 0, to })),
    ];
    for (let at = 0; at < wrong.length; at += 4) {
      await Promise.all(
        wrong.slice(at, at + 4).map(async ({ index, to }) => {
          const ended = await project.run(['table', 'night', 'edit', 'work', String(index), to]);
          expect({ ...ended, to }).toMatchObject({ code: 2 });
          expect(ended.stderr).toMatch(/does not go from|is not a status/);
        }),
      );
    }
    expect(shift.tableText).toBe(before);
    for (const arrow of arrows) {
      const [from, to] = arrow.split(' ') as [string, string];
      shift.tableText = table({ only: from });
      const { code } = await project.run(['table', 'night', 'edit', 'work', '0', to]);
      expect([arrow, code, shift.column('work')]).toEqual([arrow, 0, [to]]);
    }
  });

  test('T1 reset takes failed items to todo, and others only where they are named', async () => {
    const project = new Project();
    const shift = agentShift(project, { a: 'done', b: 'failed', c: 'qa', d: 'todo', e: 'failed' });
    await project.run(['table', 'night', 'reset', '--failed']);
    expect(shift.column('work')).toEqual(['done', 'todo', 'qa', 'todo', 'todo']);
    const { stdout } = await project.run(['table', 'night', 'reset', '--index', '0', '--index', '2', '--index', '3']);
    expect(stdout).toContain('2 reset to todo');
    expect(shift.column('work')).toEqual(Array(5).fill('todo'));
  });

  test('T1 a task that is reset takes the later tasks of its item along, unless they are to be kept', async () => {
    const project = new Project();
    const before = 'name,one,two,three\na,done,done,failed\nb,done,failed,todo\nc,done,done,done\n';
    const tasks = { one: shellTask('true'), two: shellTask('true'), three: shellTask('true') };
    const shift = project.shift('night', { settings: { agent: 'shell' }, table: before, tasks });
    const statuses = () => shift.rows().map(({ one, two, three }) => `${one} ${two} ${three}`);
    const table = (...args: string[]) => project.run(['table', 'night', ...args]);
    const first = await table('reset', '--task', 'two', '--index', '0', '--index', '1');
    expect([first.stdout, statuses()]).toEqual([
      '3 reset to todo: two 2, three 1\n',
      ['done todo todo', 'done todo todo', 'done done done'],
    ]);
    await table('reset', '--task', 'one', '--index', '2', '--keep-later');
    expect(statuses()[2]).toBe('todo done done');
    // What was kept then goes back when its task is named again.
    expect(JSON.parse((await table('reset', '--task', 'one', '--index', '2', '--json')).stdout)).toEqual({
      reset: 2,
      tasks: { two: 1, three: 1 },
    });
    expect(statuses()[2]).toBe('todo todo todo');
    shift.tableText = before.replace('b,done,failed,todo', 'b,failed,done,done');
    const failed = await table('reset', '--failed');
    expect([failed.stdout, statuses()]).toEqual([
      '4 reset to todo: one 1, two 1, three 2\n',
      ['done done todo', 'todo todo todo', 'done done done'],
    ]);
    const edited = await table('edit', 'one', '2', 'todo');
    expect([edited.code, edited.stderr, statuses()[2]]).toEqual([
      0,
      expect.stringContaining('two, three of this row keep their status; `nightshift table night reset --task one'),
      'todo done done',
    ]);
    shift.tableText = before.replace('b,done,failed,todo', 'b,failed,done,done');
    expect(await project.run(['retry', 'night'])).toMatchObject({ code: 0 });
    expect(statuses()).toEqual(Array(3).fill('done done done'));
    expect(shift.journal().filter(({ type, to }) => type === 'item:recorded' && to === 'done')).toHaveLength(4);
  });
});

test('T2 claimed before any agent starts; each side writes its own transition as soon as it knows', async () => {
  const project = new Project();
  const shift = agentShift(project, todo('abcd'), 3);
  const note = 'cp "$NIGHTSHIFT_TABLE" ".nightshift/at-$NIGHTSHIFT_ROLE-$NIGHTSHIFT_INDEX"';
  project.behave({
    'dev:a': { sh: note },
    'dev:b': { sh: note, report: { overall_status: 'FAILED (step 1)', error: 'no' } },
    'dev:c': { sh: `${note}; ${waits.sh}` },
    'qa:a': { sh: `${note}; until [ -e .nightshift/judge ]; do sleep 0.1; done` },
    'qa:c': { sh: note, report: { overall_status: 'FAIL' } },
  });
  const running = shift.launch();
  await until(() => statusOf(shift, 'a') === 'qa' && statusOf(shift, 'b') === 'failed', 'a and b to be written');
  // Not when the batch is: c is still at work, and d is not of this batch.
  expect(shift.column('work')).toEqual(['qa', 'failed', 'in_progress', 'todo']);
  project.write('go', '');
  await until(() => project.exists('.nightshift/at-qa-0'), 'the qa of a');
  project.write('.nightshift/judge', '');
  const { code } = await running.ended;
  expect(code).toBe(3);
  expect(shift.column('work')).toEqual(['done', 'failed', 'failed', 'done']);
  const work = (file: string) =>
    project
      .read(`.nightshift/${file}`)
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[2]);
  for (const dev of ['at-dev-0', 'at-dev-1', 'at-dev-2']) {
    expect(work(dev).slice(0, 3)).not.toContain('todo');
    expect(work(dev)[3]).toBe('todo');
  }
  // One qa after the other, each recorded before the next begins.
  expect(work('at-qa-0')).toEqual(['qa', 'failed', 'qa', 'todo']);
  expect(work('at-qa-2')).toEqual(['done', 'failed', 'qa', 'todo']);
  const recorded = shift.journal().filter(({ type }) => type === 'item:recorded');
  expect(recorded.map(({ index, from, to }) => `${index}: ${from} ${to}`).sort()).toEqual([
    ...['0: in_progress qa', '0: qa done', '1: in_progress failed', '2: in_progress qa', '2: qa failed'],
    ...['3: in_progress qa', '3: qa done'],
  ]);
});

describe('T3 the lock', () => {
  test('T3 reads and writes wait for whoever holds table.csv.lock, and go on when it is free', async () => {
    const project = new Project();
    const shift = agentShift(project, todo('ab'));
    const other = agentShift(project, todo('ab'), 2, 'other');
    project.behave({ dev: waits });
    const running = shift.launch();
    await allCalled(project, 2);
    await until(() => shift.column('work').every((status) => status === 'in_progress'), 'the claim');
    const lock = project.path(shift.folder, 'table.csv.lock');
    const holder = spawn('flock', ['-x', lock, 'sh', '-c', 'echo held; exec sleep 600'], { detached: true });
    const free = () => {
      try {
        process.kill(-holder.pid!, 'SIGKILL');
      } catch {}
    };
    onTestFinished(free);
    await new Promise((held) => holder.stdout.once('data', held));
    const before = shift.tableText;
    const manifest = shift.manager;
    const waiting = [
      ['table', 'night', 'count'],
      ['table', 'night', 'show'],
      ['table', 'night', 'edit', 'note', '0', 'edited meanwhile'],
      ['table', 'night', 'add', 'name=c'],
      ['status', 'night'],
    ].map((args) => project.launch(args));
    let early = 0;
    for (const each of waiting) void each.ended.then(() => early++);
    // Both devs finish now; their side can't write yet.
    project.write('go', '');
    await until(() => project.calls().filter((call) => call.ended).length === 2, 'both devs to end');
    // Others are not held up: so the ones above had time enough to end, too.
    for (let i = 0; i < 3; i++) expect(await project.run(['table', 'other', 'count'])).toMatchObject({ code: 0 });
    expect(other.column('work')).toEqual(['todo', 'todo']);
    expect([early, shift.tableText, shift.manager]).toEqual([0, before, manifest]);
    free();
    for (const each of waiting) expect(await each.ended).toMatchObject({ code: 0 });
    expect(await running.ended).toMatchObject({ code: 0 });
    // The run may have got the lock first, and ended before the row was there.
    expect(await shift.start()).toMatchObject({ code: 0 });
    expect(shift.rows()).toEqual([
      { name: 'a', note: 'edited meanwhile', work: 'done' },
      { name: 'b', note: 'about b', work: 'done' },
      { name: 'c', note: '', work: 'done' },
    ]);
  });

  test('T3 the journal is history: it makes nothing done, and losing it loses no status', async () => {
    const project = new Project();
    const shift = agentShift(project, todo('ab'));
    await shift.start(['--rows', '1:1']);
    expect(shift.column('work')).toEqual(['done', 'todo']);
    // Says that a is done; the table says that it is not.
    expect(shift.journal().some(({ type, to }) => type === 'item:recorded' && to === 'done')).toBe(true);
    shift.tableText = table(todo('ab'));
    expect(await shift.start()).toMatchObject({ code: 0 });
    expect(
      devCalls(project)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['a', 'a', 'b']);
    const { tableText } = shift;
    rmSync(project.path(shift.folder, '.engine'), { recursive: true });
    expect(await shift.start()).toMatchObject({ code: 0 });
    expect([shift.tableText, devCalls(project).length]).toEqual([tableText, 3]);
  });
});

describe('T4 others write too', () => {
  test('T4 no update of many writers is lost while a shift runs', async () => {
    const project = new Project();
    const WRITERS = 4;
    const header = ['name', ...Array.from({ length: WRITERS + 1 }, (_, i) => `w${i}`), 'work'];
    const rows = Array.from({ length: 20 }, (_, i) => [`item ${i}`, ...Array(WRITERS + 1).fill(''), 'todo']);
    const shift = project.shift('night', {
      settings: { agent: 'shell', parallel: true, 'max-batch-size': 4 },
      table: `${[header, ...rows].join('\n')}\n`,
      tasks: { work: shellTask('sleep 0.1') },
    });
    const running = shift.launch();
    await running.seen('batch:claimed');
    const commands = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let i = 0; i < 10; i++) {
        const args = ['table', 'night', 'edit', `w${writer}`, String((writer * 5 + i) % 20), `${writer}.${i}`];
        const { code, stderr } = await project.run(args);
        expect([code, stderr]).toEqual([0, '']);
      }
    });
    // Another program that takes part in the lock, and replaces the file.
    const [csv, lock] = ['table.csv', 'table.csv.lock'].map((name) => project.path(shift.folder, name));
    const awk = (i: number) =>
      `awk -F, -v OFS=, 'NR==${i + 2}{$${WRITERS + 2}="awk.${i}"} {print}' '${csv}' > '${csv}.awk' && mv '${csv}.awk' '${csv}'`;
    const taking = (async () => {
      for (let i = 0; i < 10; i++) await run('flock', ['-x', lock!, 'sh', '-c', awk(i)]);
    })();
    await Promise.all([...commands, taking]);
    expect(await running.ended).toMatchObject({ code: 0 });
    const expected = rows.map((_, row) => ({ name: `item ${row}`, work: 'done' }) as Record<string, string>);
    for (const row of expected) for (let w = 0; w <= WRITERS; w++) row[`w${w}`] = '';
    for (let w = 0; w < WRITERS; w++) for (let i = 0; i < 10; i++) expected[(w * 5 + i) % 20]![`w${w}`] = `${w}.${i}`;
    for (let i = 0; i < 10; i++) expected[i]![`w${WRITERS}`] = `awk.${i}`;
    expect(shift.rows()).toEqual(expected);
  });

  test('T4 T7 edited, inserted, sorted and removed rows: every status lands on its own item, new rows are done', async () => {
    const project = new Project();
    const shift = agentShift(project, todo('abcdef'), 3);
    project.behave({
      'dev:a': waits,
      'dev:b': waits,
      'dev:c': { ...waits, report: { overall_status: 'FAILED (step 1)' } },
    });
    const running = shift.launch();
    await allCalled(project, 3);
    edit(shift, inLine(1, 'about a', 'edited in place'));
    edit(shift, (lines) => lines.toSpliced(1, 0, 'new,about new,todo', 'b,about b,todo'));
    expect(await running.seen('table:grew')).toMatchObject({ rows: 2 });
    edit(shift, ([header, ...lines]) => [header!, ...lines.reverse()]);
    edit(shift, (lines) => lines.filter((line) => !line.startsWith('f,')));
    expect(shift.rows().map(({ name, work }) => `${name} ${work}`)).toEqual([
      ...['e todo', 'd todo', 'c in_progress', 'b in_progress', 'a in_progress', 'b todo', 'new todo'],
    ]);
    project.write('go', '');
    const { code, events } = await running.ended;
    expect(code).toBe(3);
    expect(shift.rows()).toEqual([
      ...['e', 'd'].map((name) => ({ name, note: `about ${name}`, work: 'done' })),
      { name: 'c', note: 'about c', work: 'failed' },
      { name: 'b', note: 'about b', work: 'done' },
      { name: 'a', note: 'edited in place', work: 'done' },
      { name: 'b', note: 'about b', work: 'done' },
      { name: 'new', note: 'about new', work: 'done' },
    ]);
    // The twin of b is an item of its own; nobody was stopped, and nobody was done twice.
    const done = devCalls(project).map(({ name, attempt }) => `${name}${attempt}`);
    expect(done.sort()).toEqual(['a1', 'b1', 'b1', 'c1', 'c2', 'c3', 'd1', 'e1', 'new1']);
    expect(events.filter(({ type }) => ['item:withdrawn', 'edit:reverted'].includes(type))).toEqual([]);
    expect(new Set(devCalls(project).map(({ key }) => key)).size).toBe(7);
  });

  const withdrawals = {
    'set to todo': { how: inLine(1, 'in_progress', 'todo'), left: 'todo', status: 'done', calls: 2 },
    'set to failed': { how: inLine(1, 'in_progress', 'failed'), left: 'failed', status: 'failed', calls: 1 },
    'its row removed': {
      how: (lines: string[]) => lines.toSpliced(1, 1),
      left: undefined,
      status: undefined,
      calls: 1,
    },
  };
  test.each(Object.entries(withdrawals))(
    'T4 withdrawn (%s): the dev is stopped, its result dropped and reported',
    async (_, withdrawal) => {
      const project = new Project();
      const shift = agentShift(project, todo('ab'));
      project.behave({ 'dev:a': { sh: `trap "" TERM; ${waits.sh}` }, 'dev:b': waits });
      const running = shift.launch();
      await allCalled(project, 2);
      const { pid } = devCalls(project, 'a')[0];
      edit(shift, withdrawal.how);
      const { task, item, index, reason } = await running.seen('item:withdrawn');
      expect([task, index, reason]).toEqual(['work', 0, expect.stringMatching(/^(set to|its row was removed)/)]);
      await until(() => !lives(pid), 'the dev of a to be stopped');
      expect(lives(devCalls(project, 'b')[0].pid)).toBe(true);
      expect(statusOf(shift, 'a')).toBe(withdrawal.left);
      project.write('go', '');
      await running.ended;
      expect([statusOf(shift, 'a'), statusOf(shift, 'b')]).toEqual([withdrawal.status, 'done']);
      expect(devCalls(project, 'a')).toHaveLength(withdrawal.calls);
      // What became of a is never taken from the dev that was stopped.
      const recorded = running.events.filter((event) => event.type === 'item:recorded' && event.item === item);
      expect(recorded.map(({ to }) => to)).toEqual(withdrawal.calls === 2 ? ['qa', 'done'] : []);
      expect(running.events.find(({ type }) => type === 'batch:finished')).toMatchObject({
        done: 1,
        returned: 1,
        failed: 0,
      });
      const { failures } = JSON.parse((await project.run(['status', 'night', '--json'])).stdout);
      const reasons = failures.map((failure: { reason: string }) => failure.reason);
      expect(reasons).toEqual(withdrawal.status === 'failed' ? ['set to failed by an edit'] : []);
    },
  );

  test('T4 an item that is withdrawn while it waits for its qa is not judged', async () => {
    const project = new Project();
    const shift = agentShift(project, todo('ab'));
    project.behave({ 'qa:a': { sh: 'until [ -e .nightshift/judge ]; do sleep 0.1; done' } });
    const running = shift.launch();
    await until(() => project.calls().some((call) => call.role === 'qa'), 'the qa of a');
    edit(shift, inLine(2, /qa$/, 'failed'));
    await running.seen('item:withdrawn', ({ index }) => index === 1);
    project.write('.nightshift/judge', '');
    expect(await running.ended).toMatchObject({ code: 3 });
    expect(shift.column('work')).toEqual(['done', 'failed']);
    expect(project.calls().filter((call) => call.role === 'qa' && call.name === 'b')).toEqual([]);
  });
});

describe('T5 a start after an interruption', () => {
  test('T5 in_progress goes back to todo, and the number is said; qa is judged first, without a dev', async () => {
    const project = new Project();
    const rows = { a: 'todo', b: 'in_progress', c: 'qa', d: 'done', e: 'in_progress' };
    const shift = agentShift(project, rows);
    const { code, stdout } = await project.run(['start', 'night']);
    expect(code).toBe(0);
    expect(stdout).toContain('2 items in progress from an interrupted run: back to todo');
    expect(stdout).toContain('1 item at qa from an earlier run: judged first');
    expect(shift.column('work')).toEqual(Array(5).fill('done'));
    const calls = project.calls().filter((call) => !call.ended);
    expect(calls[0]).toMatchObject({ role: 'qa', name: 'c' });
    expect(
      devCalls(project)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['a', 'b', 'e']);
    shift.tableText = table(rows);
    const { events } = await shift.start();
    expect(events.find(({ type }) => type === 'run:started')).toMatchObject({ recovered: 2, waiting: 1 });
  });
});

describe('T6 one run at a time', () => {
  test('T6 of several starts exactly one runs, the others say who and since when; a dead run is taken over', async () => {
    const project = new Project();
    const shift = agentShift(project, todo('ab'));
    const other = agentShift(project, todo('a'), 2, 'other');
    project.behave({ dev: waits });
    const starts = Array.from({ length: 4 }, () => shift.spawn());
    let losers = 0;
    for (const each of starts) void each.ended.then(() => losers++);
    await until(() => losers === 3, 'all but one to end');
    const [winner] = starts.filter((each) => each.child.exitCode === null);
    await allCalled(project, 2);
    const { running } = JSON.parse((await project.run(['status', shift.name, '--json'])).stdout);
    for (const each of starts.filter((start) => start !== winner)) {
      const { code, stderr, events } = await each.ended;
      expect(code).toBe(5);
      const [, pid, since] = /is already being run by process (\d+) since (\S+)/.exec(stderr)!;
      expect(Number(pid)).toBe(winner!.pid);
      expect(since).toBe(localTime(running.since, Date.parse(running.since)));
      expect(events.filter(({ type }) => type !== 'error')).toEqual([]);
    }
    // Several shifts may run at once.
    const beside = other.launch();
    await until(() => devCalls(project).length === 3, 'the dev of the other shift');
    winner!.kill('SIGKILL');
    await winner!.ended;
    const next = shift.launch();
    expect(await next.seen('run:started')).toMatchObject({ recovered: 2 });
    project.write('go', '');
    expect(await next.ended).toMatchObject({ code: 0 });
    expect(await beside.ended).toMatchObject({ code: 0 });
    expect(shift.column('work')).toEqual(['done', 'done']);
    expect(processesOf(project.path(shift.folder))).toEqual([]);
  });
});

describe('M7 how the last run ended', () => {
  /** What goes wrong inside of Nightshift while both devs are at work. */
  const errors = {
    'no room for the table, but for the journal': {
      cause: ({ pid }: RunningProcess) => execFileSync('prlimit', ['--pid', String(pid), '--fsize=20000']),
      counts: ' 3 items, 0 completed, 0 failed, 3 remaining.',
      ...{ exitCode: 2, error: 'disk', says: /^error: no room left on the disk to write .*\/table\.csv$/m },
      reason: /^no room left on the disk to write \S+\/\[PLACE\]\/table\.csv; nothing was lost: make room, then run/,
    },
    'a bug': {
      cause: (_: RunningProcess, { project }: ShiftHandle) => project.write('broken', ''),
      counts: ' 3 items, 0 completed, 0 failed, 3 remaining.',
      ...{ exitCode: 1, error: 'bug', says: /^This is a bug in Nightshift\. Nothing that was recorded is lost\.$/m },
      reason: /^a bug in Nightshift \(.*\/\[PLACE\]\/table\.csv\); nothing that was recorded is lost$/,
    },
  };
  /** From the moment that `broken` is there, a write of the table meets what nobody has thought of. */
  const BREAKS = `import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
const { rename } = fs;
fs.rename = async (from, to) => {
  if (to.endsWith('table.csv') && existsSync('broken')) throw new TypeError(to);
  return rename(from, to);
};
syncBuiltinESMExports();
`;

  test.each(Object.entries(errors))('M7 by an error: %s', async (_, { cause, counts, ...expected }) => {
    const { exitCode, error, says, reason } = expected;
    const project = new Project();
    const shift = agentShift(project, todo('abc'), 2, 'night-of-errors');
    shift.tableText = shift.tableText.replace('about c', 'x'.repeat(30_000));
    project.write(`${shift.folder}/.env`, 'PLACE=night-of-errors\n');
    project.behave({ dev: waits });
    project.write('breaks.mjs', BREAKS);
    const env = { NODE_OPTIONS: `--import=${project.path('breaks.mjs')}` };
    const running = shift.spawn(['--rows', '1:2', '--max-cost', '5'], { env });
    await allCalled(project, 2);
    const watcher = project.launch(['attach', shift.name]);
    await until(() => watcher.stdout.includes('rows 1, 2'), 'who looks on');
    cause(running, shift);
    project.write('go', '');
    const ended = await running.ended;
    expect([ended.code, ended.stderr]).toEqual([exitCode, expect.stringMatching(says)]);
    // Once, behind all else that happened; the error itself is told as ever.
    const events = ended.events.filter(({ type }) => type !== 'error');
    expect(ended.events.slice(events.length).map(({ code }) => code)).toEqual(error === 'bug' ? [] : [error]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.filter(({ type }) => type === 'run:finished')).toEqual(events.slice(-1));
    const end = events.at(-1);
    expect(end).toMatchObject({ exitCode, error, reason: expect.stringMatching(reason) });
    expect(shift.journal()).toEqual(events);
    const looked = await watcher.ended;
    const line = `night-of-errors: the run has ended by an error: ${end.reason}.${counts}\n`;
    expect([looked.code, looked.stdout]).toEqual([exitCode, expect.stringContaining(line)]);

    rmSync(project.path(shift.folder, 'table.csv.lock'));
    const { stdout } = await project.run(['status', shift.name]);
    const told = stdout.split('\n').find((line) => line.startsWith('the last run ended '))!;
    const [, code, why] = /^the last run ended \d\d:\d\d by an error, with exit code (\d): (.*)$/.exec(told)!;
    expect([Number(code), why]).toEqual([exitCode, end.reason]);
    expect(stdout).toMatch(
      /^not running: 2 items in progress .*; `nightshift start night-of-errors --rows 1:2 --max-cost 5` continues$/m,
    );
    const { lastRun } = JSON.parse((await project.run(['status', shift.name, '--json'])).stdout);
    expect(lastRun).toMatchObject({ number: 1, lastAt: end.at, end: { exitCode, error, reason: why } });

    expect(await shift.start()).toMatchObject({ code: 0 });
    expect((await project.run(['status', shift.name])).stdout).toMatch(/^the last run ended \d\d:\d\d: finished$/m);
  });
});

test('T8 a result whose claim is no longer the current one is refused', async () => {
  const project = new Project();
  const shift = agentShift(project, todo('a'), 1);
  // While the dev is at work, its item is reset with a command; it reports success nevertheless.
  project.behave({ dev: { ...waits, report: {} } });
  const running = shift.launch();
  await allCalled(project, 1);
  expect(await project.run(['table', 'night', 'reset', '--index', '0'])).toMatchObject({ code: 0 });
  project.write('go', '');
  const { code, events } = await running.ended;
  expect(code).toBe(0);
  expect(events.filter(({ type }) => type === 'item:withdrawn')).toHaveLength(1);
  expect(devCalls(project)).toHaveLength(2);
  const recorded = events.filter(({ type }) => type === 'item:recorded').map(({ from, to }) => `${from} ${to}`);
  expect(recorded).toEqual(['in_progress qa', 'qa done']);
});

describe('D5 what only the run may write', () => {
  const kept = (shift: ShiftHandle) =>
    readdirSync(shift.project.path(shift.folder)).filter((name) => name.includes('.put-back-'));

  test('D5 T4 an old copy of the whole table is put back where it would undo the run, and kept beside it', async () => {
    const project = new Project();
    const shift = agentShift(project, todo('abcd'));
    project.behave({ 'dev:c': waits, 'dev:d': waits });
    project.write('old.csv', table(todo('abcd')).replace('about b', 'written in the old copy'));
    const running = shift.launch();
    await allCalled(project, 4);
    expect(shift.column('work')).toEqual(['done', 'done', 'in_progress', 'in_progress']);
    await run('cp', [project.path('old.csv'), project.path(shift.folder, 'table.csv')]);
    const { file, what, kept: where } = await running.seen('edit:reverted');
    expect(file).toBe(project.path(shift.folder, 'table.csv'));
    expect(what).toContain('row 1: work from done to todo');
    expect(project.read(where.slice(project.root.length + 1))).toBe(project.read('old.csv'));
    expect(shift.column('work')).toEqual(['done', 'done', 'in_progress', 'in_progress']);
    project.write('go', '');
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(shift.rows().map(({ note, work }) => `${note}: ${work}`)).toEqual([
      ...['about a: done', 'written in the old copy: done', 'about c: done', 'about d: done'],
    ]);
    expect(devCalls(project)).toHaveLength(4);
    expect(running.events.filter(({ type }) => type === 'item:withdrawn')).toEqual([]);
  });

  test('D5 cells set to done, qa or in_progress are put back and reported; nobody fails when two could have done it', async () => {
    const project = new Project();
    const shift = agentShift(project, todo('abcde'));
    project.behave({ 'dev:a': waits, 'dev:b': waits });
    const running = shift.launch();
    await allCalled(project, 2);
    const forged = new Map([
      [1, 'done'],
      [3, 'in_progress'],
      [4, 'qa'],
      [5, 'done'],
    ]);
    edit(shift, (lines) => lines.map((line, i) => line.replace(/[a-z_]+$/, (status) => forged.get(i) ?? status)));
    const { what } = await running.seen('edit:reverted');
    for (const part of [
      'row 1: work from in_progress to done',
      'row 3: work from todo to in_progress',
      'row 4: work from todo to qa',
      'row 5: work from todo to done',
    ]) {
      expect(what).toContain(part);
    }
    expect(shift.column('work')).toEqual(['in_progress', 'in_progress', 'todo', 'todo', 'todo']);
    expect(kept(shift)).toHaveLength(1);
    expect(project.read(`${shift.folder}/${kept(shift)[0]}`)).toContain('a,about a,done');
    project.write('go', '');
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(
      devCalls(project)
        .map(({ name }) => name)
        .sort()
        .join(''),
    ).toBe('abcde');
    expect(running.events.filter((event) => event.type === 'attempt:finished' && event.status !== 'SUCCESS')).toEqual(
      [],
    );
  });

  test('D5 no row becomes done as another one: what appears begins at todo, unless a person added it with a command', async () => {
    const project = new Project();
    const shift = agentShift(project, { x: 'done', ...todo('abcdef') });
    project.behave({ 'dev:a': waits, 'dev:b': waits });
    const running = shift.launch();
    await allCalled(project, 2);
    const reverted = (times: number) =>
      until(() => running.events.filter(({ type }) => type === 'edit:reverted').length === times, `edit ${times}`);
    // In another order and spelling; behind it a copy, whose original goes with the next save.
    edit(shift, (lines) => {
      const [c, d, ...rest] = lines.splice(4) as [string, string, ...string[]];
      const copy = c.replace('todo', 'done').replace('c,', 'c2,');
      return [...lines, ...rest, d.replace('d,about', 'D,About').replace('todo', 'done'), copy, c];
    });
    await reverted(1);
    edit(shift, (lines) => lines.filter((line) => !line.startsWith('c,')));
    // The place and the status of a row that was done before, with the text of one that was to be done.
    edit(shift, (lines) => {
      const [e] = lines.splice(4, 1) as [string];
      return lines.with(1, e.replace('e,', 'E,').replace('todo', 'done'));
    });
    await reverted(2);
    const add = ['table', 'night', 'add', 'name=known', 'note=done by hand', 'work=done'];
    expect(await project.run(add)).toMatchObject({ code: 0 });
    project.write('go', '');
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(running.events.find(({ type }) => type === 'edit:reverted').what).toMatch(/row \d: work from todo to done/);
    const worked = new Set(devCalls(project).map(({ name }) => name));
    const unearned = shift.rows().filter(({ name, work }) => work === 'done' && !worked.has(name));
    expect(unearned.map(({ name }) => name)).toEqual(['known']);
    expect(shift.column('name').sort()).toEqual(['D', 'E', 'a', 'b', 'c2', 'f', 'known']);
  });

  const trespasses = {
    'the table': 'sed -i "s/todo$/done/" "$NIGHTSHIFT_TABLE"',
    'its own status': 'sed -i "s/in_progress$/done/" "$NIGHTSHIFT_TABLE"',
  };
  const weaken = 'sed -i "s/is done/is anything/" "$NIGHTSHIFT_SHIFT_DIR/work.md"';
  test.each(Object.entries(trespasses))('D5 a dev alone in flight that edits %s fails that attempt', async (_, sh) => {
    const project = new Project();
    const shift = agentShift(project, todo('ab'), 1);
    const [before, task] = [shift.tableText, shift.task('work')];
    project.behave({ 'dev:a:1': { sh }, 'dev:a:2': {} });
    const { code, events } = await shift.start(['--rows', '1:1']);
    expect(code).toBe(0);
    expect(events.filter(({ type }) => type === 'attempt:finished')).toMatchObject([
      {
        attempt: 1,
        status: 'FAILED (validation)',
        reason: expect.stringContaining('it edited what only Nightshift writes'),
      },
      { attempt: 2, status: 'SUCCESS' },
    ]);
    expect(events.filter(({ type }) => type === 'edit:reverted')).toHaveLength(1);
    expect([shift.tableText, shift.task('work')]).toEqual([before.replace('todo', 'done'), task]);
    expect(kept(shift)).toHaveLength(1);
  });

  test('D5 with two in flight the same edit is put back and reported, and fails nobody', async () => {
    const project = new Project();
    const shift = agentShift(project, todo('abc'));
    project.behave({ 'dev:a': { sh: `${weaken}; ${waits.sh}` }, 'dev:b': waits });
    const running = shift.launch();
    await running.seen('edit:reverted');
    project.write('go', '');
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(running.events.filter(({ type }) => type === 'attempt:finished').map(({ status }) => status)).toEqual(
      Array(3).fill('SUCCESS'),
    );
  });

  test('D5 who is alone in flight is not blamed for what was edited before it began', async () => {
    const project = new Project();
    const shift = project.shift('night', { table: table(todo('abc')), tasks: { work: agentTask() } });
    project.behave({
      'dev:a': { report: { recommendations: ['Knock', 'Wipe your feet'] } },
      manager: { sh: 'until [ -e .nightshift/fold ]; do sleep 0.1; done' },
    });
    const running = shift.launch();
    await until(() => project.calls().some((call) => call.role === 'manager'), 'the manager, between two batches');
    edit(shift, inLine(3, 'todo', 'done'));
    project.write('.nightshift/fold', '');
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(running.events.filter(({ type }) => type === 'edit:reverted')).toHaveLength(1);
    expect(running.events.filter(({ type }) => type === 'attempt:finished').map(({ status }) => status)).toEqual(
      Array(3).fill('SUCCESS'),
    );
  });

  test('D5 a qa that changes the Validation at its end does not change what the next batch is judged by', async () => {
    const project = new Project();
    const shift = agentShift(project, todo('ab'), 1);
    const before = shift.task('work');
    project.behave({ 'qa:a': { sh: weaken } });
    await shift.start();
    expect(shift.task('work')).toBe(before);
    const judge = project.calls().find((call) => call.role === 'qa' && call.name === 'b' && !call.ended);
    expect(judge.prompt).toContain('b is done');
  });

  test('D5 what a person does with a command during a run is meant', async () => {
    const project = new Project();
    const shift = agentShift(project, todo('abcd'));
    project.behave({ 'dev:c': waits, 'dev:d': waits });
    const running = shift.launch();
    await allCalled(project, 4);
    const { pid } = devCalls(project, 'c')[0];
    // A done of this run is to be done again; an item in flight is withdrawn, another given up.
    await project.run(['table', 'night', 'reset', '--index', '0']);
    await project.run(['table', 'night', 'reset', '--index', '2']);
    await project.run(['table', 'night', 'edit', 'work', '3', 'failed']);
    await running.seen('item:withdrawn', ({ index }) => index === 3);
    await until(() => !lives(pid), 'the dev of c to be stopped');
    project.write('go', '');
    expect(await running.ended).toMatchObject({ code: 3 });
    expect(shift.column('work')).toEqual(['done', 'done', 'done', 'failed']);
    expect(
      devCalls(project)
        .map(({ name }) => name)
        .sort()
        .join(''),
    ).toBe('aabccd');
    expect(running.events.filter(({ type }) => type === 'edit:reverted')).toEqual([]);
    expect(kept(shift)).toEqual([]);
  });
});
