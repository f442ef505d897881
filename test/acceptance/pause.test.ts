import { expect, test } from 'vitest';
import { Project, type Running, type ShiftHandle, shellTask, until } from '../harness.ts';

/** Each item takes until there is a file `go-` with its name. */
function slowShift(settings: Record<string, string | number | boolean> = {}): ShiftHandle {
  return new Project().shift('pages', {
    settings: { agent: 'shell', parallel: true, 'max-batch-size': 2, ...settings },
    table: `name,write\n${['a', 'b', 'c', 'd'].map((name) => `${name},todo\n`).join('')}`,
    tasks: { write: shellTask('until test -e go-{name}; do sleep 0.05; done') },
  });
}

function go(shift: ShiftHandle, ...names: string[]): void {
  for (const name of names) shift.project.write(`go-${name}`, '');
}

async function started(running: Running, items: number): Promise<void> {
  const starts = () => running.events.filter(({ type }) => type === 'dev:started').length;
  await until(() => starts() >= items, `${items} items`);
}

const typesOf = (running: Running) => running.events.map(({ type }) => type);

test('X8 X6 a pause lets running items finish, outlives kill -9 and a restart, and ends with resume', async () => {
  const shift = slowShift();
  const { project } = shift;
  const first = shift.spawn();
  await started(first, 2);
  const paused = await project.run(['pause', 'pages']);
  const SINCE =
    /^pages is paused since (\d\d:\d\d): 2 running items may finish, nothing new starts\. `nightshift resume pages` continues\.\n$/;
  expect([paused.code, paused.stdout]).toEqual([0, expect.stringMatching(SINCE)]);
  const time = SINCE.exec(paused.stdout)![1];
  const { since } = JSON.parse((await project.run(['pause', 'pages', '--json'])).stdout);
  expect(await first.seen('run:paused')).toMatchObject({ since, now: false, running: 2, signal: 'control' });
  go(shift, 'a', 'b', 'c');
  await first.seen('batch:finished');
  expect(shift.column('write')).toEqual(['done', 'done', 'todo', 'todo']);
  const status = await project.run(['status', 'pages']);
  expect(status.stdout).toMatch(new RegExp(`^paused since ${time}; \`nightshift resume pages\` continues$`, 'm'));
  // Asked again, it says the same.
  expect(JSON.parse((await project.run(['pause', 'pages', '--json'])).stdout)).toMatchObject({ paused: true, since });
  first.kill('SIGKILL');
  await first.ended;
  expect(typesOf(first).filter((type) => type === 'batch:claimed')).toHaveLength(1);

  // A request to stop that was left for that run is not for the next one.
  const control = `${shift.folder}/.engine/control.json`;
  const stop = { id: 'x', at: since, pid: 1, now: true, run: first.events[0].run };
  project.write(control, JSON.stringify({ ...JSON.parse(project.read(control)), stop }));
  expect((await project.run(['status', 'pages', '--json'])).events[0].paused).toMatchObject({ since });
  const again = await project.run(['start', 'pages', '--detach']);
  expect(again.stdout).toMatch(new RegExp(`^paused since ${time}; \`nightshift resume pages\` continues$`, 'm'));
  const stopped = await project.run(['stop', 'pages']);
  expect(stopped.stdout).toContain('pages stays paused: `nightshift resume pages` lifts that.\n');
  const second = shift.launch();
  expect(await second.seen('run:paused')).toMatchObject({ since, running: 0 });
  expect(typesOf(second).at(-2)).toBe('run:started');
  const resumed = await project.run(['resume', 'pages']);
  expect([resumed.code, resumed.stdout]).toEqual([0, `pages continues in process ${process.pid}.\n`]);
  expect(project.exists(control) && JSON.parse(project.read(control)).pause).toBeFalsy();
  await started(second, 2);
  go(shift, 'd');
  expect((await second.ended).code).toBe(0);
  expect(typesOf(second).slice(0, 4)).toEqual(['run:started', 'run:paused', 'run:resumed', 'batch:claimed']);
  expect(typesOf(second)).not.toContain('run:stopping');
  expect(shift.column('write')).toEqual(['done', 'done', 'done', 'done']);
  for (const [command, said] of [
    ['resume', 'pages is not paused, and not running: `nightshift start pages` resumes it where it left off.\n'],
    ['pause', 'pages is not running: there is nothing to pause.\n'],
  ] as const) {
    const { code, stdout } = await project.run([command, 'pages']);
    expect([code, stdout]).toEqual([0, said]);
  }
});

test.each([{}, { dispatch: 'stream' }])(
  'X8 pause --now gives running items back, and stop ends a paused run %o',
  async (settings) => {
    const shift = slowShift(settings);
    const { project } = shift;
    const running = shift.launch();
    await started(running, 2);
    const paused = await project.run(['pause', 'pages', '--now']);
    expect(paused.stdout).toMatch(
      /^pages is paused since \d\d:\d\d: 2 running items given back, nothing new starts\. /,
    );
    await until(() => shift.column('write').every((status) => status === 'todo'), 'the items back at todo');
    await until(() => running.events.filter(({ type }) => type === 'item:returned').length === 2, 'both events');
    expect(typesOf(running)).not.toContain('run:waiting');
    await project.run(['resume', 'pages']);
    await started(running, 4);
    // What was given back is no failed try.
    await project.run(['pause', 'pages', '--now']);
    await until(() => shift.column('write').every((status) => status === 'todo'), 'the items back at todo');
    const stopped = await project.run(['stop', 'pages']);
    expect([stopped.code, stopped.stdout]).toEqual([
      0,
      expect.stringContaining('pages stays paused: `nightshift resume pages` lifts that.\n'),
    ]);
    expect((await running.ended).code).toBe(130);
    const resumed = await project.run(['resume', 'pages']);
    expect(resumed.stdout).toBe(
      'pages is no longer paused. It is not running: `nightshift start pages` resumes it where it left off.\n',
    );
    go(shift, 'a', 'b', 'c', 'd');
    expect((await shift.start()).code).toBe(0);
  },
);

test('X8 a run whose last items finish while it is paused ends, and the pause with it', async () => {
  const shift = slowShift();
  const running = shift.launch(['--rows', '1:2']);
  await started(running, 2);
  await shift.project.run(['pause', 'pages']);
  go(shift, 'a', 'b', 'c', 'd');
  expect((await running.ended).code).toBe(0);
  expect((await shift.start()).code).toBe(0);
});
