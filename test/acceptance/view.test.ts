import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { Project, type RunningProcess, type ShiftHandle, shellTask, sleep, until } from '../harness.ts';
import { PageVisit } from '../kit/page-visit.ts';
import { send } from '../kit/served-page.ts';
import { StreamClient } from '../kit/stream-client.ts';

function pages(project = new Project(), step = 'true'): ShiftHandle {
  return project.shift('pages', {
    settings: { agent: 'shell' },
    table: 'name,write\na,todo\nb,todo\nc,todo\n',
    tasks: { write: shellTask(step) },
  });
}

/** `nightshift view` in a process of its own, with its state in the project, and a browser that looks at it. */
class Viewed extends PageVisit {
  readonly running: RunningProcess;
  readonly address: URL;

  private constructor(running: RunningProcess, address: URL) {
    super(address);
    this.running = running;
    this.address = address;
  }

  static async start(
    project: Project,
    args: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<Viewed> {
    const running = project.spawn(['view', '--json', ...args], { env: { ...stateIn(project), ...env } });
    const { url, port, pid } = await until(
      () => running.events[0],
      () => `an address\n${running.stderr}`,
    );
    const viewed = new Viewed(running, new URL(url));
    expect([port, pid]).toEqual([viewed.port, running.child.pid]);
    return viewed;
  }

  async end(): Promise<void> {
    this.running.child.kill('SIGINT');
    expect(await this.running.ended).toMatchObject({ code: 0 });
  }
}

const stateIn = (project: Project) => ({ XDG_STATE_HOME: project.path('state') });

test('S8 view prints its address, serves the page and ends with Ctrl-C; the next one has the same address', async () => {
  const shift = pages();
  const { project } = shift;
  const first = await Viewed.start(project, ['pages']);
  expect(first.address.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?shift=pages#token=[\w-]{43}$/);
  expect((await send(first.port, 'GET', '/')).body).toContain('<!doctype html>');
  await first.open();
  expect(await first.get('/api/project')).toMatchObject({
    status: 200,
    answer: { isReadOnly: false, shifts: [{ id: 'pages' }] },
  });
  const [kept] = readdirSync(project.path('state/nightshift/view'));
  expect(statSync(project.path('state/nightshift/view', kept!)).mode & 0o777).toBe(0o600);
  expect(statSync(project.path('state/nightshift/view')).mode & 0o777).toBe(0o700);

  const beside = await Viewed.start(project);
  expect([beside.port === first.port, beside.token === first.token]).toEqual([false, true]);
  await beside.end();
  await first.end();

  const again = await Viewed.start(project, ['pages']);
  expect(again.address.href).toBe(first.address.href);
  // The window that was open before.
  expect((await first.get('/api/project')).status).toBe(200);
  await again.end();

  chmodSync(project.path('state/nightshift/view', kept!), 0o644);
  const afterLeak = await Viewed.start(project);
  expect(afterLeak.token).not.toBe(first.token);
  await afterLeak.end();

  const renewed = await Viewed.start(project, ['--new-token', '--port', String(first.port)]);
  expect([renewed.port, renewed.token === afterLeak.token]).toEqual([first.port, false]);
  expect((await first.get('/api/project')).status).toBe(401);
  expect((await first.open()).code).toBe('bad-token');
  await renewed.end();
});

test('S8 for people, the address has a line of its own; over SSH, the next one says how to reach it', async () => {
  const { project } = pages();
  const running = project.spawn(['view'], { env: { ...stateIn(project), SSH_CONNECTION: '10.0.0.2 5 10.0.0.1 22' } });
  const line = /^http:\/\/127\.0\.0\.1:(\d+)\/#token=[\w-]{43}\n.*\n/;
  const [printed, port] = await until(() => line.exec(running.stdout) ?? undefined, 'the address');
  expect(printed).toContain(`\`ssh -L ${port}:127.0.0.1:${port} HOST\``);
  running.child.kill('SIGTERM');
  expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
});

test('S8 what view can not do is an error with exit code 2 and what to do instead', async () => {
  const { project } = pages();
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const port = String((taken.address() as { port: number }).port);
  const cases: [args: string[], said: RegExp][] = [
    [['view', 'page'], /there is no shift page.*\n.*did you mean pages\?/],
    [['view', '--host', '0.0.0.0'], /127\.0\.0\.1 only, not on 0\.0\.0\.0\n.*ssh -L PORT:127\.0\.0\.1:PORT HOST/],
    [['view', '--host', '::', '--port', '8080'], /ssh -L 8080:127\.0\.0\.1:8080 HOST/],
    [['view', '--port', '80x'], /--port "80x" is not a port/],
    [['view', '--port', '65536'], /is not a port/],
    [['view', '--port', port], new RegExp(`port ${port} is in use\\n.*without --port, a free one is chosen`)],
    [['start', 'pages', '--view', '--detach'], /'--view' cannot be used with option '--detach'/],
  ];
  for (const [args, said] of cases) {
    const { code, stderr } = await project.run(args, { env: stateIn(project) });
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
  }
  taken.close();
  const outside = await project.run(['view'], { cwd: '/', env: stateIn(project) });
  expect([outside.code, outside.stderr]).toEqual([2, expect.stringContaining('there is no .nightshift folder')]);
});

test('S8 a state folder that can not be written costs only the next address', async () => {
  const { project } = pages();
  project.write('state', 'a file');
  const viewed = await Viewed.start(project);
  expect(viewed.running.stderr).toMatch(/^the address can't be kept/);
  expect((await viewed.open()).status).toBe(200);
  await viewed.end();
});

test('S8 --open gives the browser an address that works once; without a browser, a line says so', async () => {
  const { project } = pages();
  project.write('browser', '#!/bin/sh\nprintf "%s\\n" "$@" > opened\n');
  chmodSync(project.path('browser'), 0o755);
  const viewed = await Viewed.start(project, ['pages', '--open'], { BROWSER: `${project.path('browser')} --new` });
  await until(() => project.exists('opened') && project.read('opened').includes('\n', 7), 'the browser');
  const [option, address] = project.read('opened').trim().split('\n');
  const opened = new URL(address!);
  expect([option, opened.origin, opened.search]).toEqual(['--new', viewed.address.origin, '?shift=pages']);
  const browser = new PageVisit(opened);
  expect(browser.token).not.toBe(viewed.token);
  expect([(await browser.open()).status, (await browser.open()).code]).toEqual([200, 'bad-token']);
  await viewed.end();
  for (const BROWSER of ['/nowhere/browser', 'false']) {
    const without = await Viewed.start(project, ['--open'], { BROWSER });
    await until(() => without.running.stderr.includes('no browser was opened'), 'the line');
    await without.end();
  }
});

test('S8 --read-only shows and changes nothing', async () => {
  const shift = pages();
  const viewed = await Viewed.start(shift.project, ['--read-only']);
  await viewed.open();
  const before = shift.tableText;
  const edit = { verb: 'edit', item: 'any', column: 'name', was: 'a', value: 'x' };
  expect(await viewed.act('pages', edit)).toMatchObject({ status: 403, answer: { error: { code: 'read-only' } } });
  expect((await viewed.get('/api/project')).answer.isReadOnly).toBe(true);
  expect(shift.tableText).toBe(before);
  await viewed.end();
});

test('S8 a shift that goes, and files that break, are answers; the page goes on', async () => {
  const shift = pages();
  const { project } = shift;
  expect(await shift.start()).toMatchObject({ code: 0 });
  const viewed = await Viewed.start(project);
  await viewed.open();
  const ask = (id = 'pages') => viewed.get(`/api/shift?shift=${id}`);
  expect(await ask()).toMatchObject({ status: 200, answer: { id: 'pages' } });
  shift.manager = 'no manifest';
  await untilError(ask, 'bad-manager');
  project.write(`${shift.folder}/.engine/journal.jsonl`, 'not a journal\n');
  rmSync(project.path(shift.folder), { recursive: true });
  await untilError(ask, 'not-found');
  expect((await ask('../../etc')).status).toBe(400);
  expect(await viewed.get('/api/project')).toMatchObject({ status: 200, answer: { shifts: [] } });
  pages(project);
  await untilError(ask, undefined);
  expect(viewed.running.stderr).toBe('');
  await viewed.end();
});

/** Asks until the answer has this error, or none. */
async function untilError(
  ask: () => Promise<{ readonly answer: { readonly error?: { readonly code: string } } }>,
  code: string | undefined,
): Promise<void> {
  while ((await ask()).answer.error?.code !== code) await sleep(50);
}

test('S8 a server without free descriptors answers again as soon as it has some', async () => {
  const { project } = pages();
  const viewed = await Viewed.start(project);
  await viewed.open();
  const { pid } = viewed.running.child;
  const descriptors = () => readdirSync(`/proc/${pid}/fd`).length;
  const limit = descriptors() + 6;
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}`]);
  const follow = () => new StreamClient(viewed.port, '/api/stream?shift=pages', { Cookie: viewed.cookie });
  const clients = Array.from({ length: 12 }, follow);
  await until(() => clients.filter(({ isOpen }) => isOpen).length > 3 && descriptors() >= limit - 1, 'no room');
  for (const { socket } of clients) socket.destroy();
  await until(() => descriptors() < limit - 4, 'room');
  expect((await viewed.get('/api/shift?shift=pages')).status).toBe(200);
  expect(viewed.running.stderr).toBe('');
  await viewed.end();
});

test('S8 a stream resumes at a server that was killed and started again: no event is missing, none comes twice', async () => {
  const shift = pages(undefined, 'sleep 0.2');
  const { project } = shift;
  const names = Array.from({ length: 12 }, (_, i) => `row${i},todo\n`);
  shift.tableText = `name,write\n${names.join('')}`;
  const before = await Viewed.start(project);
  await before.open();
  const follow = (headers: Record<string, string> = {}) =>
    new StreamClient(before.port, '/api/stream?shift=pages', { Cookie: before.cookie, ...headers });
  const first = follow();
  await until(() => first.isOpen, 'the stream');
  const run = shift.launch();
  await until(
    () => first.received.length > 20,
    () => first.text,
  );
  before.running.child.kill('SIGKILL');
  await until(() => first.isClosed, 'the end of the stream');
  await run.seen('item:recorded', ({ index }) => index === 8);
  const after = await Viewed.start(project);
  expect(after.port).toBe(before.port);
  const second = follow({ 'Last-Event-ID': first.received.at(-1)!.id });
  await run.ended;
  const eventsOf = ({ received }: StreamClient) => received.flatMap(({ message }) => message.event ?? []);
  await until(
    () => eventsOf(second).some(({ type }) => type === 'run:finished'),
    () => second.text.slice(-500),
  );
  const told = [...eventsOf(first), ...eventsOf(second)].map(({ seq }) => seq);
  expect(told).toEqual(shift.journal().map(({ seq }) => seq));
  await after.end();
});
