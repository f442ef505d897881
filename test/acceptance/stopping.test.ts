import { spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import koffi from 'koffi';
import { describe, expect, test } from 'vitest';
import { Gate } from '../gate.ts';
import {
  agentTask,
  NIGHTSHIFT,
  Project,
  processesOf,
  RunningProcess,
  type ShiftHandle,
  shellTask,
  straysOf,
  until,
} from '../harness.ts';

/** Ignores SIGTERM, with one child in a session of its own and another that is nobody's: all of them would run for minutes. */
const STUBBORN = {
  sh: `trap '' TERM HUP INT
    STRAY=1 setsid sh -c 'trap "" TERM; touch left-1; sleep 300; :' </dev/null >/dev/null 2>&1 &
    sh -c '(STRAY=1 setsid sh -c "touch left-2; sleep 300; :" </dev/null >/dev/null 2>&1 &)'
    until test -e left-1 && test -e left-2; do sleep 0.02; done
    touch "stubborn-$NIGHTSHIFT_ROLE-$NIGHTSHIFT_ROW"; sleep 300`,
};

function fourRows(project: Project, settings: Record<string, string | number | boolean> = {}): ShiftHandle {
  return project.shift('night', {
    settings: { parallel: true, ...settings },
    table: 'name,make\na,todo\nb,todo\nc,todo\nd,todo\n',
    tasks: { make: agentTask() },
  });
}

function callsOf(project: Project, role: string): string[] {
  return project
    .calls()
    .filter((call) => call.role === role && !call.ended)
    .map((call) => `${call.name}${call.attempt}`);
}

async function bothDevsBegan(project: Project): Promise<void> {
  await until(() => callsOf(project, 'dev').length === 2, 'both devs of the batch');
}

/** The one that watches over the groups: a child of nightshift that has no environment. */
function guardOf(pid: number): number {
  const guard = readdirSync('/proc').find((name) => {
    try {
      const parent = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]!.split(' ')[1];
      return Number(parent) === pid && readFileSync(`/proc/${name}/environ`).length === 0;
    } catch {
      return false;
    }
  });
  return Number(guard);
}

describe('Ctrl-C', () => {
  test('once: running items finish with their qa, nothing new starts, and the shift resumes', async () => {
    const project = new Project();
    const shift = fourRows(project);
    const gate = new Gate(project);
    project.behave({ 'dev:b': { sh: gate.wait } });
    const running = project.spawn(['start', 'night', '--rows', '1:', '--max-cost=5']);
    await bothDevsBegan(project);
    // In flight, too, while nobody works on it: it waits for its qa.
    await until(() => shift.column('make')[0] === 'qa', 'the end of the first dev');
    running.kill('SIGINT');
    await until(
      () => /stopping: 2 running items may finish.*Ctrl-C again/.test(running.stdout),
      'the word that it drains',
    );
    gate.open();
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    expect(stdout).toContain('`nightshift start night --rows 1: --max-cost 5` continues');
    const ends = async () => (await project.run(['status', 'night'])).stdout;
    expect(await ends()).toMatch(/^the last run ended \d\d:\d\d: interrupted$/m);
    expect(shift.column('make')).toEqual(['done', 'done', 'todo', 'todo']);
    expect(callsOf(project, 'qa')).toEqual(['a1', 'b1']);
    // That of the shift is not a matter of a run of some rows.
    expect(shift.manager).not.toContain('current-batch-size: 4');

    expect((await shift.start()).code).toBe(0);
    expect(shift.column('make')).toEqual(['done', 'done', 'done', 'done']);
    expect(callsOf(project, 'dev').sort()).toEqual(['a1', 'b1', 'c1', 'd1']);
  });

  test('R6 twice: what runs is ended at once with all that it started, and given back', async () => {
    const project = new Project();
    const shift = fourRows(project);
    project.behave({ dev: STUBBORN });
    const running = shift.spawn();
    await until(() => project.exists('stubborn-dev-1') && project.exists('stubborn-dev-2'), 'both devs');
    expect(processesOf(project.path(shift.folder)).length).toBeGreaterThan(8);
    running.kill('SIGINT');
    await running.seen('run:draining', ({ signal, running: items }) => signal === 'SIGINT' && items === 2);
    running.kill('SIGINT');
    const { code, events } = await running.ended;
    expect(code).toBe(130);
    expect(processesOf(project.path(shift.folder))).toEqual([]);
    const ends = events.filter(({ type }) => /^(run:(draining|stopping|finished)|item:returned)$/.test(type));
    expect(ends.map(({ type }) => type)).toEqual([
      ...['run:draining', 'run:stopping', 'item:returned', 'item:returned', 'run:finished'],
    ]);
    expect(ends[1]).toMatchObject({ signal: 'SIGINT', running: 2 });
    expect(
      events
        .filter(({ type }) => type === 'item:returned')
        .map(({ index }) => index)
        .sort(),
    ).toEqual([0, 1]);
    expect(shift.column('make')).toEqual(['todo', 'todo', 'todo', 'todo']);
    expect(shift.manager).not.toContain('current-batch-size');

    project.behave({});
    const resumed = await shift.start();
    expect(resumed.code).toBe(0);
    expect(resumed.events.find(({ type }) => type === 'run:started').recovered).toBe(0);
    expect(callsOf(project, 'dev').filter((call) => call.startsWith('a'))).toEqual(['a1', 'a1']);
  });

  test('P8 T5 at once, while recommendations are folded in and then during a qa: both wait for the next start', async () => {
    const project = new Project();
    const shift = fourRows(project);
    const gate = new Gate(project);
    const wish = 'Look twice before you begin';
    const dev = { report: { recommendations: [wish, 'Be brief'] } };
    project.behave({ dev, manager: { sh: `touch asked; ${gate.wait}` } });
    const before = shift.task('make');
    const running = shift.launch();
    await until(() => project.exists('asked'), 'the manager');
    expect((await project.run(['stop', 'night', '--now'])).code).toBe(0);
    expect((await running.ended).code).toBe(130);
    expect(processesOf(project.path(shift.folder))).toEqual([]);
    expect([shift.task('make'), shift.column('make')]).toEqual([before, ['done', 'done', 'todo', 'todo']]);

    const adds = { report: { lessons: [{ text: `${wish}.`, from: [2, 4], same_as: null, after: 0 }] } };
    project.behave({ manager: adds, qa: { sh: `touch judging; ${gate.wait}` } });
    const resumed = shift.launch();
    await until(() => project.exists('judging'), 'a qa');
    expect((await project.run(['stop', 'night', '--now'])).code).toBe(0);
    const { events } = await resumed.ended;
    expect(shift.task('make')).toContain(`1. ${wish}.\n`);
    const changed = events.findIndex(({ type }) => type === 'steps:changed');
    expect(events[changed].lessons.map(({ rows }: { rows: number[] }) => rows)).toEqual([
      [1, 2],
      [1, 2],
    ]);
    // Rule L5: the first batch of the resumed run is already given the new Steps.
    const firstDev = events.findIndex(({ type }) => type === 'dev:started');
    expect(firstDev).toBeGreaterThan(changed);
    expect(events[firstDev].version).toBe(events[changed].to);
    expect(shift.column('make')).toEqual(['done', 'done', 'qa', 'qa']);

    project.behave({});
    expect((await shift.start()).code).toBe(0);
    expect(callsOf(project, 'dev').sort()).toEqual(['a1', 'b1', 'c1', 'd1']);
  });

  test('while it waits for trouble to pass: nobody runs, so it ends', async () => {
    const project = new Project();
    const shift = fourRows(project);
    project.behave({ dev: { exit: 75 } });
    const running = shift.launch();
    await running.seen('run:waiting');
    expect((await project.run(['stop', 'night'])).code).toBe(0);
    const { code, events } = await running.ended;
    expect(code).toBe(130);
    const drained = events.findLastIndex(({ type }) => type === 'run:draining');
    expect(events[drained].running).toBe(0);
    expect(events.slice(drained).filter(({ type }) => type === 'batch:claimed')).toEqual([]);
  });
});

describe('SIGTERM and SIGHUP', () => {
  test('SIGTERM: running items finish, nothing new starts, and it resumes', async () => {
    const project = new Project();
    const shift = fourRows(project);
    const gate = new Gate(project);
    project.behave({ dev: { sh: gate.wait } });
    const running = shift.spawn();
    await bothDevsBegan(project);
    running.kill('SIGTERM');
    await running.seen('run:draining', (event) => event.signal === 'SIGTERM' && event.running === 2);
    // A second one, as some service managers send it, does not make it hasty.
    running.kill('SIGTERM');
    gate.open();
    expect((await running.ended).code).toBe(130);
    expect(shift.column('make')).toEqual(['done', 'done', 'todo', 'todo']);
    expect((await shift.start()).code).toBe(0);
    expect(callsOf(project, 'dev').sort()).toEqual(['a1', 'b1', 'c1', 'd1']);
  });

  test('SIGHUP with a terminal that is gone: nothing can be printed any more, and yet it drains', async () => {
    const project = new Project();
    const shift = fourRows(project);
    const gate = new Gate(project);
    project.behave({ dev: { sh: gate.wait } });
    const terminal = openTerminal();
    const child = spawn(process.execPath, [NIGHTSHIFT, 'start', 'night'], {
      cwd: project.root,
      stdio: [terminal.slave, terminal.slave, terminal.slave],
    });
    const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
    closeSync(terminal.slave);
    await bothDevsBegan(project);
    closeSync(terminal.master);
    child.kill('SIGHUP');
    await until(() => shift.journal().some(({ type }) => type === 'run:draining'), 'the drain');
    gate.open();
    expect(await ended).toEqual({ code: 130, signal: null });
    expect(shift.column('make')).toEqual(['done', 'done', 'todo', 'todo']);
    expect((await shift.start()).code).toBe(0);
  });

  test('`--json | head -1` does not end the run', async () => {
    const project = new Project();
    const shift = fourRows(project);
    const child = spawn('/bin/sh', ['-c', `"$0" "$1" start night --json | head -1`, process.execPath, NIGHTSHIFT], {
      cwd: project.root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { events } = await new RunningProcess(child).ended;
    expect(events.map(({ type }) => type)).toEqual(['run:started']);
    await until(() => shift.journal().some(({ type }) => type === 'run:finished'), 'the end of the run');
    expect(shift.column('make')).toEqual(['done', 'done', 'done', 'done']);
  });
});

describe('R6 nothing lives on', () => {
  test('after a run that came to its end', async () => {
    const project = new Project();
    const shift = fourRows(project);
    project.behave({ dev: { sh: 'setsid sleep 300 </dev/null >/dev/null 2>&1 &' } });
    expect((await shift.start()).code).toBe(0);
    expect(processesOf(project.path(shift.folder))).toEqual([]);
  });

  test.each([
    ['of nightshift alone', false],
    ['of nightshift and its guard', true],
  ])('after `kill -9` %s and a resume', async (_, withGuard) => {
    const project = new Project();
    const shift = fourRows(project);
    const folder = project.path(shift.folder);
    project.behave({ dev: STUBBORN });
    const running = shift.spawn();
    await until(() => project.exists('stubborn-dev-1') && project.exists('stubborn-dev-2'), 'both devs');
    const before = processesOf(folder);
    if (withGuard) process.kill(guardOf(running.pid), 'SIGKILL');
    running.kill('SIGKILL');
    await running.ended;
    const strays = straysOf(folder);
    expect(strays.length).toBeGreaterThanOrEqual(4);
    if (withGuard) expect(processesOf(folder).length).toBeGreaterThan(strays.length);
    else await until(() => processesOf(folder).length === 0, 'the end of the groups and of the daemons');

    project.behave({});
    const resumed = shift.launch();
    await resumed.seen('run:started', ({ recovered }) => recovered === 2);
    expect(processesOf(folder).filter((pid) => before.includes(pid))).toEqual([]);
    const { code, events } = await resumed.ended;
    expect(code).toBe(0);
    const warnings = events.filter(({ type }) => type === 'run:warning').map(({ message }) => message);
    expect(warnings.some((message) => /ended \d+ processes/.test(message))).toBe(withGuard);
    expect(processesOf(folder)).toEqual([]);
  });

  test('after `kill -9` right behind the last item: the next start has nothing to do, and clears up', async () => {
    const project = new Project();
    const shift = project.shift('night', { table: 'name,make\na,todo\n', tasks: { make: agentTask() } });
    const folder = project.path(shift.folder);
    // It has left its group, and hides its tag, before the dev ends: else it ends with it.
    const leave = `prlimit --locks=0 setsid sh -c 'touch left; sleep 300; :' </dev/null >/dev/null 2>&1 &
      until test -e left; do sleep 0.02; done`;
    project.behave({ dev: { sh: leave } });
    const killed = await shift.start([], { env: { NIGHTSHIFT_CRASH_AT: 'item:recorded#2' } });
    expect(killed.signal).toBe('SIGKILL');
    expect(shift.column('make')).toEqual(['done']);
    expect(processesOf(folder).length).toBeGreaterThan(0);
    expect(shift.manager).toContain('- Completed: 0');

    const again = await shift.start();
    expect(again.code).toBe(0);
    expect(processesOf(folder)).toEqual([]);
    expect(shift.manager).toContain('- Completed: 1');
    expect(callsOf(project, 'dev')).toEqual(['a1']);
  });
});

/** A real one from the system, without a program around it. */
function openTerminal(): { master: number; slave: number } {
  const c = koffi.load(null);
  // Not for children: a terminal lives as long as anybody holds its master.
  const closedOnExec = 0o2000000;
  const flags = constants.O_RDWR | constants.O_NOCTTY | closedOnExec;
  const master = c.func('int posix_openpt(int flags)')(flags) as number;
  c.func('int grantpt(int fd)')(master);
  c.func('int unlockpt(int fd)')(master);
  const name = c.func('const char *ptsname(int fd)')(master) as string;
  return { master, slave: openSync(name, constants.O_RDWR | constants.O_NOCTTY) };
}

test('X3 R6 a daemon without an environment ends with its attempt, that of a check with the check; those of other rows go on', async () => {
  const project = new Project();
  const daemon = (pids: string) => `(env -i setsid sh -c 'echo $$ >> ${pids}; exec sleep 300' >/dev/null 2>&1 &)`;
  const wait = (pids: string) => `until [ -s ${pids} ]; do sleep 0.02; done`;
  const step = `${daemon('$0')}\n${wait('{name}')}\n[ {name} = quick ] || until [ -e go ]; do sleep 0.05; done`;
  const shift = project.shift('night', {
    settings: { agent: 'shell', parallel: true, dispatch: 'stream' },
    table: 'name,work\nquick,todo\nslow,todo\n',
    tasks: {
      work: shellTask(step.replace("sleep 300'", "sleep 300' {name}"), `${daemon('checked')}\n${wait('checked')}`),
    },
  });
  const running = shift.launch();
  await running.seen('item:recorded', ({ to }) => to === 'done');
  await until(() => project.exists('slow'), 'the daemon of the slow row');
  const isAlive = (file: string) => {
    const pid = project.read(file).trim().split('\n').at(-1);
    // One that has ended stays until somebody asks how.
    return existsSync(`/proc/${pid}/status`) && !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  };
  expect([isAlive('quick'), isAlive('checked'), isAlive('slow')]).toEqual([false, false, true]);
  project.write('go', '');
  expect((await running.ended).code).toBe(0);
  expect(isAlive('slow')).toBe(false);
});
