import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import {
  agentTask,
  isAlive,
  NIGHTSHIFT,
  Project,
  processesOf,
  processIn,
  Running,
  RunningProcess,
  type ShiftHandle,
  shellTask,
  until,
} from '../harness.ts';
import { Screen } from '../screen.ts';

/** Items that take until the file `go` is there; the row `bad` fails after that. */
function slowShift(project = new Project(), names = ['a', 'b', 'c', 'd']): ShiftHandle {
  return project.shift('pages', {
    settings: { agent: 'shell', parallel: true, 'max-batch-size': 2 },
    table: `name,write\n${names.map((name) => `${name},todo\n`).join('')}`,
    tasks: {
      write: shellTask(
        'echo "begin {name}"\nuntil test -e go; do sleep 0.05; done\necho "end {name}"\ntest {name} != bad',
      ),
    },
  });
}

/** The program on a terminal of its own, made by script(1); what it wrote to it. */
function onTerminal(project: Project, line: string): RunningProcess {
  const size = 'stty rows 20 cols 60';
  const child = spawn('script', ['-qfec', `${size}; exec ${process.execPath} ${NIGHTSHIFT} ${line}`, '/dev/null'], {
    cwd: project.root,
    env: { ...process.env, TERM: 'xterm-256color', CI: undefined, NO_COLOR: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return new RunningProcess(child);
}

/** How many devs this run, or any run in the journal, has started. */
const started = (of: Running | ShiftHandle, count: number) =>
  until(() => eventsOf(of).filter(({ type }) => type === 'dev:started').length >= count, `${count} devs`);
const has = (shift: ShiftHandle, type: string) => eventsOf(shift).some((event) => event.type === type);

// biome-ignore lint/suspicious/noExplicitAny: events of every kind
function eventsOf(of: Running | ShiftHandle): any[] {
  if (of instanceof Running) return of.events;
  return of.project.exists(`${of.folder}/.engine/journal.jsonl`) ? of.journal() : [];
}

const holder = (shift: ShiftHandle) => JSON.parse(shift.project.read(`${shift.folder}/.engine/run.lock`));
const go = (shift: ShiftHandle) => shift.project.write('go', '');

test('X8 on a terminal a block is redrawn below what has ended; Ctrl-C drains, and nothing is left behind', async () => {
  const shift = slowShift(undefined, ['a', 'bad', 'c']);
  const running = onTerminal(shift.project, 'start pages');
  await until(() => running.stdout.includes('begin bad'), 'what a running item prints');
  expect(new Screen(60).write(running.stdout).text).toMatch(
    /^pages: 3 items[^\n]*\nno sandbox: [\s\S]*?\n\npages {2}░+ {2}0% {2}0\/3 items {2}\S+\n1 todo · 2 in_progress · 0 done/,
  );
  process.kill(holder(shift).pid, 'SIGINT');
  await until(() => running.stdout.includes('stopping: 2 running items'), 'the drain');
  go(shift);
  const { code, stdout } = await running.ended;
  expect(code).toBe(130);
  // Only what Screen knows (cursor up and right, erase line, styles): no other screen, no hidden cursor, no clearing.
  const { text } = new Screen(60).write(stdout);
  expect(text).toContain('  row 1 a: write done\n');
  expect(text).toMatch(/ {2}row 2 bad: write failed: FAILED \(step 1\)/);
  expect(text).toMatch(/\n\npages: 3 items, 1 completed, 1 failed, 1 remaining\n/);
  expect(text).toMatch(/stopped: interrupted\. `nightshift start pages` continues\.\s+report: .*report\.html$/);
  expect(text).not.toMatch(/░|more running|no sign/);
  expect(stdout).toContain('\u001b[32m');
  expect(shift.column('write')).toEqual(['done', 'failed', 'todo']);
});

test('X8 --plain on a terminal, and pipes, get plain lines', async () => {
  for (const [args, onTerminal] of [
    [['start', 'pages', '--plain'], true],
    [['start', 'pages'], false],
  ] as const) {
    const shift = slowShift();
    go(shift);
    const { code, stdout } = await shift.project.run(args, { onTerminal });
    expect(code).toBe(0);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('Progress: 4/4 items');
  }
});

test('X8 --detach returns when the run holds its lock, and says how to watch and stop it', async () => {
  const shift = slowShift();
  // In a process of its own: it must not wait for the run that it started.
  const begun = await shift.project.spawn(['start', 'pages', '--detach']).ended;
  const { code, stdout } = begun;
  expect(code).toBe(0);
  const pid = processIn(begun);
  expect(stdout).toContain('log: .nightshift/pages/.engine/run.log\n');
  expect(stdout).toContain('`nightshift attach pages` shows it, `nightshift stop pages` ends it.');
  const { running } = JSON.parse((await shift.project.run(['status', 'pages', '--json'])).stdout);
  expect(running.pid).toBe(pid);
  // A session of its own: a terminal that goes away does not end it.
  expect(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[3]).toBe(String(pid));
  const second = await shift.project.run(['start', 'pages', '--detach', '--json']);
  expect(second.code).toBe(5);
  expect(second.events[0]).toMatchObject({ type: 'error', code: 'already-running' });
  go(shift);
  await until(() => !isAlive(pid), 'the end of the run');
  expect(shift.column('write')).toEqual(['done', 'done', 'done', 'done']);
  const log = `${shift.folder}/.engine/run.log`;
  expect(shift.project.read(log)).toContain('Progress: 4/4 items');
  expect(shift.project.read(log)).not.toContain('\u001b');
  expect(statSync(shift.project.path(log)).mode & 0o777).toBe(0o600);
  const again = await shift.project.run(['start', 'pages', '--detach']);
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Already complete')]);
});

test('X8 --detach hands on what start was asked, and tells what is wrong as start does, with nothing written', async () => {
  const shift = slowShift();
  go(shift);
  const begun = await shift.project.run(['start', 'pages', '--detach', '--rows', '2:3']);
  expect(begun.code).toBe(0);
  const pid = processIn(begun);
  await until(() => !isAlive(pid), 'the end of the run');
  expect(shift.column('write')).toEqual(['todo', 'done', 'done', 'todo']);

  const bad = new Project().shift('pages', {
    settings: { agent: 'nobody' },
    table: 'name,write\na,todo\n',
    tasks: { write: shellTask('true') },
  });
  const [alone, behind] = [
    await bad.project.run(['start', 'pages']),
    await bad.project.run(['start', 'pages', '--detach']),
  ];
  expect(behind.code).toBe(2);
  expect([behind.code, behind.stderr]).toEqual([alone.code, alone.stderr]);
  expect(bad.project.exists(`${bad.folder}/.engine`)).toBe(false);
});

test('X8 X6 --detach tells the warnings and limits of the run, whatever its lines look like', async () => {
  // Its log has lines such as `warning: 1 item` and `limits: none`.
  const shift = new Project().shift('warning', {
    settings: { agent: 'shell', colour: 'blue' },
    table: 'name,write\na,todo\n',
    tasks: { write: shellTask('echo "limits: none"') },
  });
  const { stdout } = await shift.project.run(['start', 'warning', '--detach', '--json', '--max-failures=3']);
  const { warnings, limits, pid } = JSON.parse(stdout);
  expect([warnings, limits]).toEqual([[expect.stringContaining('colour')], '0 of 3 failures in a run']);
  await until(() => has(shift, 'run:finished'), 'the end of the run');
  await until(() => !isAlive(pid), 'the end of its process');
});

test('X8 attach shows a run from elsewhere to its end, and has its exit code', async () => {
  const shift = slowShift(undefined, ['a', 'bad', 'c']);
  const running = shift.launch();
  await started(running, 2);
  const json = shift.project.launch(['attach', 'pages', '--json']);
  const plain = shift.project.launch(['watch', 'pages']);
  const live = shift.project.launch(['attach', 'pages'], { onTerminal: true });
  await json.seen('dev:started');
  await until(() => live.stdout.includes('begin bad'), 'what a running item prints');
  go(shift);
  const [events, lines, screen] = [await json.ended, await plain.ended, await live.ended];
  expect([events.code, lines.code, screen.code]).toEqual([3, 3, 3]);
  expect(events.events).toEqual(shift.journal());
  expect(events.events).toEqual((await running.ended).events);
  expect(lines.stdout).toContain('  row 3 c: write done\n');
  const note = /pages: the run has ended: finished, with failed items\. 3 items, 2 completed, 1 failed, 0 remaining\./;
  expect(lines.stdout).toMatch(note);
  const { text } = new Screen(60).write(screen.stdout);
  expect(text.replaceAll('\n', '')).toMatch(note);
  expect(text).toContain('  row 3 c: write done\n');
  expect(text).not.toContain('░');
  const none = await shift.project.run(['attach', 'pages']);
  expect([none.code, none.stdout]).toEqual([0, expect.stringContaining('pages is not running')]);
});

test('X8 Ctrl-C on attach leaves the run alone; a killed run is told from one that ended', async () => {
  const shift = slowShift();
  const run = shift.spawn();
  await started(run, 2);
  const second = shift.project.launch(['attach', 'pages']);
  await until(() => second.stdout.includes('pages: 4 items'), 'the other one');
  const live = onTerminal(shift.project, 'attach pages');
  await until(() => live.stdout.includes('begin b'), 'the live view');
  const [watcher] = readFileSync(`/proc/${live.pid}/task/${live.pid}/children`, 'utf8').split(' ');
  process.kill(Number(watcher), 'SIGINT');
  const left = await live.ended;
  expect(left.code).toBe(130);
  expect(new Screen(60).write(left.stdout).text).toBe(
    `pages continues in process ${run.pid}. \`nightshift stop pages\` ends it.`.replace(/.{60}/, '$&\n'),
  );
  expect(isAlive(run.pid)).toBe(true);
  run.kill('SIGKILL');
  const { code, stdout } = await second.ended;
  expect([code, stdout]).toEqual([
    4,
    expect.stringContaining('the run was killed. `nightshift start pages` continues'),
  ]);
  const status = await shift.project.run(['status', 'pages']);
  expect(status.stdout).toMatch(/^the last run was killed, or ended by an error, after \d\d:\d\d$/m);
  const { lastRun } = JSON.parse((await shift.project.run(['status', 'pages', '--json'])).stdout);
  expect(lastRun).toMatchObject({ number: 1, end: null });
});

test('X8 stop lets running items finish, and --now does not wait for them', async () => {
  const shift = slowShift();
  const run = shift.launch();
  await started(run, 2);
  const lookers = [
    ['attach', 'pages'],
    ['logs', 'pages', '-f'],
  ].map((args) => shift.project.launch(args));
  for (const each of lookers) await until(() => each.stdout.includes('write: rows 1, 2'), 'who looks on');
  const stop = shift.project.launch(['stop', 'pages']);
  await run.seen('run:draining');
  // A second one waits too: it must not become the second Ctrl-C.
  const other = shift.project.launch(['stop', 'pages']);
  for (const each of [stop, other]) {
    await until(() => each.stdout.includes(`stopping process ${process.pid} when`), 'the announcement');
  }
  expect(has(shift, 'run:finished')).toBe(false);
  go(shift);
  for (const each of lookers)
    expect((await each.ended).stdout).toMatch(/^.*stopping: .* Ctrl-C here only stops watching\.$/m);
  const [end, otherEnd] = [await stop.ended, await other.ended];
  expect([end.code, end.stdout]).toEqual([
    0,
    expect.stringContaining('ended: interrupted; 2 of 4 items completed, 0 failed.'),
  ]);
  expect([otherEnd.code, otherEnd.stdout]).toEqual([end.code, end.stdout]);
  expect((await run.ended).code).toBe(130);
  expect(shift.column('write')).toEqual(['done', 'done', 'todo', 'todo']);
  expect(has(shift, 'item:returned')).toBe(false);

  const nothing = await shift.project.run(['stop', 'pages']);
  expect([nothing.code, nothing.stdout]).toEqual([0, 'pages is not running: there is nothing to stop.\n']);

  const late = slowShift();
  const second = late.spawn();
  await started(second, 2);
  const { run: id } = holder(late);
  const now = await late.project.run(['stop', 'pages', '--now', '--json']);
  expect([now.code, now.events[0]]).toEqual([0, expect.objectContaining({ stopped: true, run: id, exitCode: 130 })]);
  expect(isAlive(second.pid), 'the stopped run').toBe(false);
  expect(late.column('write')).toEqual(['todo', 'todo', 'todo', 'todo']);
  expect(processesOf(late.project.path(late.folder))).toEqual([]);
  const { stdout } = await late.project.run(['logs', 'pages']);
  expect(stdout).toMatch(/ stopping at once: 2 running items given back\n.*row \d \w: write given back: stopped\n/);
});

test('X8 stop, and attach and status after a kill, repeat the flags of the run, as start itself does', async () => {
  const flags = ['--rows', '1:3', '--where', 'name=b', '--max-cost=5', '--sample', '1', '--seed', 'a b'];
  const goesOn = "`nightshift start pages --rows 1:3 --where name=b --sample 1 --seed 'a b' --max-cost 5` continues";
  const shift = slowShift();
  const first = shift.project.launch(['start', 'pages', ...flags]);
  await started(shift, 1);
  const stopped = await shift.project.run(['stop', 'pages', '--now']);
  expect(stopped.stdout).toMatch(/^ended: interrupted; 0 of 4 items completed, 0 failed\.$/m);
  expect(stopped.stdout.trimEnd().split('\n').at(-1)).toBe(`${goesOn}.`);
  expect((await first.ended).stdout).toContain(`stopped: interrupted. ${goesOn}.\n`);

  const second = shift.spawn(flags);
  await started(second, 1);
  const watcher = shift.project.launch(['attach', 'pages']);
  await until(() => watcher.stdout.includes('write: row 2'), 'who looks on');
  second.kill('SIGKILL');
  expect((await watcher.ended).stdout).toContain(`pages: the run was killed. ${goesOn}.\n`);
  const status = await shift.project.run(['status', 'pages']);
  expect(status.stdout).toMatch(/^the last run was killed, or ended by an error, after \d\d:\d\d$/m);
  expect(status.stdout).toContain(`not running: 1 item in progress when it was interrupted; ${goesOn}\n`);
  const { lastRun } = JSON.parse((await shift.project.run(['status', 'pages', '--json'])).stdout);
  expect(lastRun).toMatchObject({
    flags: ['--rows=1:3', '--where=name=b', '--sample=1', '--seed=a b', '--max-cost=5'],
    end: null,
  });
});

test('X8 stop of a run that is at a limit says what goes on in spite of it, and nothing else', async () => {
  const shift = slowShift(undefined, ['bad', 'b', 'c', 'd']);
  const step = 'test {name} != bad || exit 1\nuntil test -e go; do sleep 0.05; done';
  shift.project.write(`${shift.folder}/write.md`, shellTask(step));
  const run = shift.launch(['--max-failures', '1', '--rows', '1:3']);
  await run.seen('run:draining');
  const stop = shift.project.launch(['stop', 'pages']);
  await until(() => stop.stdout.includes('stopping process'), 'the announcement');
  go(shift);
  const { stdout } = await stop.ended;
  expect(stdout.trimEnd().split('\n').slice(1)).toEqual([
    'ended: max-failures is used up: 1 failed in this run; 1 of 4 items completed, 1 failed.',
    '`nightshift start pages --rows 1:3 --max-failures 1` continues.',
  ]);
  expect(shift.journal().at(-1)).toMatchObject({ type: 'run:finished', exitCode: 4 });
});

test('X8 stop signals nobody who does not hold the lock', async () => {
  const shift = slowShift();
  go(shift);
  await shift.start();
  const bystander = spawn('sleep', ['60'], { stdio: 'ignore' });
  onTestFinished(() => void bystander.kill('SIGKILL'));
  const lock = `${shift.folder}/.engine/run.lock`;
  // The file of a dead run names a process id that somebody else has now.
  shift.project.write(lock, JSON.stringify({ pid: bystander.pid, since: '2026-01-02T03:04:05.678Z', run: 'r' }));
  expect((await shift.project.run(['stop', 'pages'])).stdout).toContain('is not running');
  // And now somebody holds the lock, but not the one that the file names.
  const holder = spawn('flock', ['-x', shift.project.path(shift.folder), 'sleep', '60'], {
    stdio: 'ignore',
    detached: true,
  });
  onTestFinished(() => void process.kill(-holder.pid!, 'SIGKILL'));
  await until(() => spawnSync('flock', ['-n', shift.project.path(shift.folder), 'true']).status !== 0, 'the lock');
  const refused = await shift.project.run(['stop', 'pages']);
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining(`but it names ${bystander.pid}`)]);
  expect(isAlive(bystander.pid!)).toBe(true);
});

test('X8 logs are the journal for a reader, or what was said about one row, also while it is said', async () => {
  const shift = slowShift();
  await started(shift.launch(), 2);
  const journal = shift.project.launch(['logs', 'pages', '-f']);
  const row = shift.project.launch(['logs', 'pages', '--row', '2', '--follow']);
  await until(() => row.stdout.includes('begin b'), 'what row 2 says');
  const now = await shift.project.run(['logs', 'pages', '--row', '2', '--json']);
  expect(now.events.at(-1)).toMatchObject({
    task: 'write',
    role: 'dev',
    attempt: 1,
    kind: 'output',
    text: expect.stringContaining('begin b'),
  });
  expect(row.stdout).not.toContain('end b');
  go(shift);
  const [lines, said] = [await journal.ended, await row.ended];
  expect(lines.stdout).toMatch(/^\d\d:\d\d {3}row 4 d: write done$/m);
  expect(lines.stdout).toMatch(/^\d\d:\d\d the run has ended: finished$/m);
  expect(said.stdout).toMatch(/^--- row 2 b: write, dev attempt 1, output \(\d\d:\d\d\)\n {2}begin b\n {2}end b\n/m);
  expect(said.stdout).not.toContain('begin a');
  const all = await shift.project.run(['logs', 'pages', '--json']);
  expect(all.events).toEqual(shift.journal());
  const none = await shift.project.run(['logs', 'pages', '--row', '9']);
  expect(none.code).toBe(2);
});

test('X8 logs of a row are in the order of time, whoever spoke, and leave out what was asked', async () => {
  const project = new Project();
  const shift = project.shift('pages', {
    table: 'name,write\na,todo\n',
    tasks: { write: agentTask('1. Write about {name}') },
  });
  project.behave({
    'qa:a': { report: { overall_status: 'FAIL', criteria: [{ criterion: 'a is done', status: 'FAIL' }] } },
  });
  expect((await shift.start()).code).toBe(3);
  expect((await project.run(['retry', 'pages', '--json'])).code).toBe(3);
  const { stdout } = await project.run(['logs', 'pages', '--row', '1']);
  const prompts = [
    ...stdout.matchAll(
      /^--- row 1 \w+: write, (dev|qa) attempt 1, prompt \(\d\d:\d\d\)\n {2}\((\d+) characters; `--prompts`/gm,
    ),
  ];
  expect(prompts.map(([, role]) => role)).toEqual(['dev', 'qa', 'dev', 'qa']);
  expect(stdout).not.toContain('You are the');
  const full = await project.run(['logs', 'pages', '--row', '1', '--prompts']);
  const asked = [...full.stdout.matchAll(/You are the (dev|qa) of/g)];
  expect(asked.map(([, role]) => role)).toEqual(['dev', 'qa', 'dev', 'qa']);
});
