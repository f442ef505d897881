import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  isAlive,
  NIGHTSHIFT,
  Project,
  type Running,
  RunningProcess,
  type ShiftHandle,
  shellTask,
  until,
} from '../harness.ts';
import { PageVisit } from '../kit/page-visit.ts';
import { sandboxTest } from '../kit/sandbox-test.ts';
import { Screen } from '../screen.ts';

/** Items that take until the file `go` is there. */
function slowShift(project = new Project(), name = 'pages'): ShiftHandle {
  return project.shift(name, {
    settings: { agent: 'shell' },
    table: 'name,write\na,todo\nb,todo\n',
    tasks: { write: shellTask('until test -e go; do sleep 0.05; done') },
  });
}

const stateIn = (project: Project) => ({ XDG_STATE_HOME: project.path('state') });

async function visit(running: Running): Promise<PageVisit> {
  const [, url] = await until(
    () => /page: (http\S+#token=[\w-]{43})/.exec(running.stdout + running.stderr) ?? undefined,
    () => `the address of the page\n${running.stderr}`,
  );
  const page = new PageVisit(new URL(url!));
  expect((await page.open()).status).toBe(200);
  return page;
}

/** The processes that serve a page beside a run of this project. */
function pageProcesses(project: Project): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const isHere = readlinkSync(`/proc/${name}/cwd`) === project.root;
      return isHere && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('\0__page\0') ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** The fields of /proc/PID/stat behind its name, from the state on. */
const statOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
const parentOf = (pid: number) => Number(statOf(pid)[1]);
const sessionOf = (pid: number) => Number(statOf(pid)[3]);

test('X8 start --view serves the page beside the run, says where, and ends with it', async () => {
  const shift = slowShift();
  const { project } = shift;
  const running = project.spawn(['start', 'pages', '--view'], { env: stateIn(project) });
  const page = await visit(running);
  const [pid, ...more] = pageProcesses(project);
  expect(more).toEqual([]);
  // Ctrl-C is for the run, and what a person starts on the page does not come from an agent.
  expect(sessionOf(pid!)).not.toBe(sessionOf(running.child.pid!));
  expect(parentOf(pid!)).not.toBe(running.child.pid);
  expect(await page.get('/api/shift?shift=pages')).toMatchObject({ status: 200, answer: { id: 'pages' } });
  project.write('go', '');
  const { code, stdout, stderr } = await running.ended;
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('`nightshift view pages` serves it again');
  await until(() => !isAlive(pid!), 'the end of the page');
});

sandboxTest(
  'X8 where the run is process 1, as in a container, it has its page, and that of a person acts',
  async () => {
    const shift = slowShift();
    const { project } = shift;
    slowShift(project, 'others');
    const inContainer = 'bwrap --dev-bind / / --unshare-pid --proc /proc --as-pid-1 --die-with-parent'.split(' ');
    const [file = '', ...args] = [...inContainer, process.execPath, NIGHTSHIFT, 'start', 'pages', '--view'];
    const running = new RunningProcess(
      spawn(file, args, {
        cwd: project.root,
        env: { ...process.env, ...stateIn(project) },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    const page = await visit(running);
    expect(await page.act('others', { verb: 'start' })).toMatchObject({ status: 200 });
    project.write('go', '');
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
  },
);

test('R6 the page beside a run ends with it, also when it is killed', async () => {
  const { project } = slowShift();
  const running = project.spawn(['start', 'pages', '--view', '--json'], { env: stateIn(project) });
  await visit(running);
  // Standard output holds only events.
  expect(running.stderr).toMatch(/^page: /);
  const [pid] = pageProcesses(project);
  running.child.kill('SIGKILL');
  await running.ended;
  await until(() => !isAlive(pid!), 'the end of the page');
});

test('X8 what is done on the page beside a run is done by a person; what it starts outlives it', async () => {
  const shift = slowShift();
  const { project } = shift;
  const other = slowShift(project, 'others');
  const running = project.spawn(['start', 'pages', '--view'], { env: stateIn(project) });
  const page = await visit(running);
  expect(await page.act('others', { verb: 'start' })).toMatchObject({ status: 200 });
  const held = JSON.parse(project.read(`${other.folder}/.engine/run.lock`));
  expect(isAlive(held.pid)).toBe(true);
  expect(await page.act('pages', { verb: 'stop', now: true })).toMatchObject({ status: 200 });
  expect(await running.ended).toMatchObject({ code: 130 });
  expect(isAlive(held.pid)).toBe(true);
  project.write('go', '');
  await until(() => !isAlive(held.pid), 'the end of the other run');
  expect(other.column('write')).toEqual(['done', 'done']);
});

test('X8 the live view has the address of the page, whole above and as far as it fits below', async () => {
  const { project } = slowShift();
  const running = project.launch(['start', 'pages', '--view'], { env: stateIn(project), onTerminal: true });
  const page = await visit(running);
  const below = `page: http://127.0.0.1:${page.port}/`;
  await until(() => new Screen(60).write(running.stdout).rows.includes(below), 'the line in the view');
  project.write('go', '');
  expect(await running.ended).toMatchObject({ code: 0 });
  await until(() => pageProcesses(project).length === 0, 'the end of the page');
});
