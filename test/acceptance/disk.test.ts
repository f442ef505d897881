import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import koffi from 'koffi';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AGENT, agentTask, CALLS, type Ended, Project, type ShiftHandle, shellTask, until } from '../harness.ts';
import { listing } from '../listing.ts';

/** Somebody with fewer rights than root, whom no mode of a file stops. */
const NOBODY = 65534;

/** These tests need root, for another user and for a mount. Where there is none they fail: a green run has tried them. */
function requireRoot(): void {
  if (process.getuid?.() !== 0) throw new Error('this test must run as root: it needs another user and a mount');
}

const LIBC = koffi.load(null);
const setUsers = LIBC.func('int setresuid(int real, int effective, int saved)');
const setGroups = LIBC.func('int setresgid(int real, int effective, int saved)');

/** A command of another user, in this process, which stays root's at heart. */
async function asNobody(project: Project, args: readonly string[]): Promise<Ended> {
  requireRoot();
  const become = (...ids: [number, number, number]) => [setGroups(...ids), setUsers(...ids)];
  expect(become(NOBODY, NOBODY, 0)).toEqual([0, 0]);
  try {
    return await project.run(args);
  } finally {
    setUsers(0, 0, 0);
    setGroups(0, 0, 0);
  }
}

function publicProject(): { project: Project; shift: ShiftHandle } {
  const project = new Project();
  chmodSync(project.root, 0o755);
  const shift = project.shift('pages', {
    settings: { agent: 'shell' },
    table: 'name,make_page\na,todo\nb,todo\n',
    tasks: { make_page: shellTask('true') },
    env: 'API_KEY=s3cret\n',
  });
  return { project, shift };
}

describe('R4 a folder without permission', () => {
  async function refused(project: Project, args: readonly string[]): Promise<Ended> {
    const before = listing(project.root);
    const ended = await asNobody(project, [...args, '--json']);
    expect(ended.code, ended.stderr).toBe(2);
    expect(ended.stderr).not.toMatch(/bug in Nightshift|s3cret/);
    expect(JSON.parse(ended.stdout)).toMatchObject({ type: 'error' });
    expect(listing(project.root)).toEqual(before);
    return ended;
  }

  test('a read-only shift: nothing is written, no agent is started, and it says what to do', async () => {
    requireRoot();
    const { project, shift } = publicProject();
    const ended = await refused(project, ['start', 'pages']);
    expect(ended.stderr).toMatch(/^error: no permission to write .*\/pages/);
    expect(ended.stderr).toContain(`\n  at ${project.path(shift.folder)}`);
    expect(ended.stderr).toContain(`\n  make ${project.path(shift.folder)} writable for this user`);
    for (const args of [
      ['table', 'pages', 'edit', 'name', '0', 'x'],
      ['table', 'pages', 'add', 'name=c'],
      ['add-task', 'pages', 'other'],
      ['create', 'other'],
      ['init'],
      ['archive', 'pages', '--force'],
    ]) {
      expect((await refused(project, args)).stderr, args.join(' ')).toMatch(/^error: no permission to write /);
    }
  });

  test('doctor finds the shift that can not be written, with what to do, and only that one', async () => {
    requireRoot();
    const { project, shift } = publicProject();
    const other = project.shift('other', {
      settings: { agent: 'shell' },
      table: 'name,make_page\na,todo\n',
      tasks: { make_page: shellTask('true') },
    });
    for (const path of ['.nightshift', other.folder]) chownSync(project.path(path), NOBODY, NOBODY);
    chmodSync(project.path(shift.folder, '.env'), 0o644);
    const look = async () => {
      const ended = await asNobody(project, ['doctor', '--json']);
      const { findings } = JSON.parse(ended.stdout) as { findings: { level: string; shift?: string }[] };
      return { code: ended.code, ofShifts: findings.filter((finding) => finding.shift !== undefined) };
    };
    const folder = project.path(shift.folder);
    const isOk = { level: 'ok', shift: 'other' };
    const remedy = (place: string) => `make ${place} writable for this user`;
    const closed = { level: 'problem', shift: 'pages', file: folder, remedy: remedy(folder) };
    const found = await look();
    expect(found.code).toBe(2);
    expect(found.ofShifts).toMatchObject([isOk, { ...closed, message: `no permission to write ${folder} (EACCES)` }]);
    // What an earlier run of root has left in a folder that is open now is in the way, too.
    expect((await shift.start()).code).toBe(0);
    expect((await look()).ofShifts).toMatchObject([isOk, closed]);
    chownSync(folder, NOBODY, NOBODY);
    const engine = `${folder}/.engine`;
    expect((await look()).ofShifts).toMatchObject([isOk, { ...closed, file: engine, remedy: remedy(engine) }]);
    shift.tableText = 'name,make_page\na,todo\n';
    expect((await refused(project, ['start', 'pages'])).stderr).toContain(`\n  ${remedy(engine)}`);
  });

  test('where there is no .nightshift yet, it is the folder around it that must be writable', async () => {
    requireRoot();
    const project = new Project();
    chmodSync(project.root, 0o755);
    const { stderr } = await refused(project, ['create', 'pages']);
    expect(stderr).toMatch(/^error: no permission to write .*\.nightshift/);
    expect(stderr).toContain(`\n  make ${project.root} writable for this user`);
  });

  test('a read-only shift that was run before: the same', async () => {
    requireRoot();
    const { project, shift } = publicProject();
    expect((await shift.start()).code).toBe(0);
    shift.tableText = 'name,make_page\na,todo\n';
    expect((await refused(project, ['start', 'pages'])).stderr).toMatch(/^error: no permission to write /);
    // What agents said is for the owner only.
    expect((await refused(project, ['status', 'pages'])).stderr).toMatch(/^error: no permission to read .*journal/);
  });

  test('who may only read it can still look at it, and nothing is written', async () => {
    requireRoot();
    const { project, shift } = publicProject();
    chmodSync(project.path(shift.folder, '.env'), 0o644);
    const before = listing(project.root);
    for (const args of [
      ['status'],
      ['list'],
      ['table', 'show'],
      ['preview', 'pages', 'make_page', '--row', '1'],
      ['start', '--dry-run'],
    ]) {
      const ended = await asNobody(project, args);
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stderr).toBe('');
    }
    expect(listing(project.root)).toEqual(before);
  });

  test('files that may not be read', async () => {
    requireRoot();
    for (const file of ['manager.md', 'table.csv', 'make_page.md', '.env']) {
      const { project, shift } = publicProject();
      chmodSync(project.path(shift.folder, file), 0o600);
      const { stderr } = await refused(project, ['start', 'pages']);
      expect(stderr).toContain(`error: no permission to read ${project.path(shift.folder, file)}\n`);
      expect(stderr).toContain(`\n  at ${project.path(shift.folder, file)}\n  make it readable for this user`);
    }
  });

  test('a folder that may not be entered', async () => {
    requireRoot();
    const { project, shift } = publicProject();
    chmodSync(project.path(shift.folder), 0o700);
    const ended = await asNobody(project, ['start', 'pages']);
    expect(ended.code, ended.stderr).toBe(2);
    expect(ended.stderr).toMatch(/^error: no permission to read .*\n {2}at .*\n {2}make it readable/);
  });

  test('a table that turns read-only in the middle of a run is intact, and the run goes on when it may', async () => {
    requireRoot();
    const { project, shift } = publicProject();
    chownAll(project, shift);
    project.write(
      `${shift.folder}/make_page.md`,
      shellTask('touch begun-{name}; while ! test -e go; do sleep 0.05; done'),
    );
    const running = shift.launch([], { uid: NOBODY });
    await until(() => project.exists('begun-a'), 'the first item');
    chmodSync(project.path(shift.folder), 0o555);
    project.write('go', '');
    const { message } = await running.seen('run:warning');
    expect(message).toMatch(/^no permission to write .*; nothing new is started until this is corrected/);
    expect(shift.column('make_page')).toEqual(['in_progress', 'todo']);
    chmodSync(project.path(shift.folder), 0o755);
    expect((await running.ended).code).toBe(0);
    expect(shift.column('make_page')).toEqual(['done', 'done']);
  });
});

const ofType = ({ events }: Ended, wanted: string) => events.filter(({ type }) => type === wanted);

function chownAll(project: Project, shift: ShiftHandle): void {
  for (const path of [project.root, project.path(shift.folder)]) chownSync(path, NOBODY, NOBODY);
}

/** A disk of its own that can be full. */
class SmallDisk {
  readonly folder: string;

  constructor(kilobytes: number) {
    requireRoot();
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-disk-')));
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k,mode=755`, 'nightshift-test', this.folder]);
    onTestFinished(() => {
      execFileSync('umount', ['-l', this.folder]);
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  /** Takes all the room there is but for some pages. */
  fill(leavePages = 0): void {
    const { bavail, bsize } = statfsSync(this.folder);
    writeFileSync(join(this.folder, 'ballast'), Buffer.alloc(Math.max(0, bavail - leavePages) * bsize));
  }

  makeRoom(): void {
    rmSync(join(this.folder, 'ballast'), { force: true });
  }
}

describe('R3 a full disk', () => {
  const names = ['a', 'b', 'c', 'd'];

  /** The agents work on another disk, so that what fails is only what Nightshift writes. */
  function project(disk: SmallDisk, taskText: (work: string) => string): { shift: ShiftHandle; work: Project } {
    const work = new Project();
    const shift = new Project(join(disk.folder, 'project')).shift('pages', {
      settings: { parallel: true, 'current-batch-size': 2, agent: 'shell' },
      table: `name,make_page\n${names.map((name) => `${name},todo\n`).join('')}`,
      tasks: { make_page: taskText(work.root) },
    });
    return { shift, work };
  }

  function rows(shift: ShiftHandle): Record<string, string>[] {
    const found: Record<string, string>[] = parse(shift.tableText, { columns: true });
    expect(found.map(({ name }) => name)).toEqual(names);
    for (const { make_page } of found) expect(['todo', 'in_progress', 'qa', 'done', 'failed']).toContain(make_page);
    return found;
  }

  function expectFull(ended: Ended, shift: ShiftHandle): void {
    expect(ended.code, ended.stderr).toBe(2);
    expect(ended.stderr).toMatch(/^error: no room left on the disk to write /m);
    expect(ended.stderr).toContain(`\n  at ${shift.project.path(shift.folder)}`);
    expect(ended.stderr).toMatch(/\n {2}nothing was lost: make room, then run `nightshift start` to continue/);
    expect(ended.stderr).not.toMatch(/bug in Nightshift/);
  }

  test('full before the start: nothing changes, and with room it runs', async () => {
    const disk = new SmallDisk(300);
    const { shift } = project(disk, () => shellTask('true'));
    const before = [shift.tableText, shift.manager, shift.task('make_page')];
    disk.fill();
    expectFull(await shift.start(), shift);
    expect([shift.tableText, shift.manager, shift.task('make_page')]).toEqual(before);
    for (const args of [
      ['table', 'pages', 'edit', 'name', '0', 'x'.repeat(5000)],
      ['add-task', 'pages', 'other'],
      ['create', 'other'],
    ]) {
      const ended = await shift.project.run(args);
      expect(ended.code, ended.stderr).toBe(2);
      expect(ended.stderr).toMatch(/^error: no room left on the disk to write .*\n {2}at /);
      expect([shift.tableText, shift.manager, shift.task('make_page')]).toEqual(before);
    }
    expect(shift.project.exists('.nightshift/other')).toBe(false);
    disk.makeRoom();
    expect((await shift.start()).code).toBe(0);
    expect(shift.column('make_page')).toEqual(names.map(() => 'done'));
  });

  test('full at one write after the other, while agents work: the table is always whole, and every resume goes on', {
    timeout: 240_000,
  }, async () => {
    // How much is free decides which write fails.
    const places = new Set<string>();
    const expected = ['in-force.json', 'manager.md', 'run.lock', 'table.csv', 'version.md'];
    for (let leavePages = 0; leavePages <= 12 && !expected.every((place) => places.has(place)); leavePages++) {
      const disk = new SmallDisk(300);
      const { shift, work } = project(disk, (folder) => shellTask(`cd ${folder}; echo {name} >> effects`));
      // A manifest that needs more room than the table: its write fails where that of the table does not.
      shift.manager += `\n<!-- ${'x'.repeat(9000)} -->\n`;
      disk.fill(leavePages);
      const full = await shift.start();
      if (full.code !== 0) {
        expectFull(full, shift);
        // Those who look on are told if it had begun, whether or not there was room to write it down.
        const [hasBegun, ends] = [ofType(full, 'run:started').length > 0, ofType(full, 'run:finished')];
        expect(ends.map(({ error }) => error)).toEqual(hasBegun ? ['disk'] : []);
        expect(full.events.at(-1)).toMatchObject({ type: 'error', code: 'disk' });
        const file = /\n {2}at .*\/([^/\n]*)\n/.exec(full.stderr)?.[1] ?? full.stderr;
        places.add(file.replace(/^\d+-\w+/, 'version'));
      }
      const done = rows(shift).filter(({ make_page }) => make_page === 'done');
      disk.makeRoom();
      const resumed = await shift.start();
      expect(resumed.code, `${leavePages}: ${resumed.stderr}`).toBe(0);
      expect(shift.column('make_page')).toEqual(names.map(() => 'done'));
      expect(shift.manager).toContain('- Completed: 4\n');
      const effects = work.read('effects').trim().split('\n');
      for (const { name } of done) expect(effects.filter((effect) => effect === name)).toEqual([name]);
    }
    // Whether the journal needs another page before one of these does depends on the moment.
    places.delete('journal.jsonl');
    expect([...places].sort()).toEqual(expected);
  });

  test.each(['dev', 'qa'])(
    'full while a %s works: the result is not lost silently, and the run resumes',
    async (role) => {
      const disk = new SmallDisk(300);
      const { shift, work } = project(disk, (folder) =>
        agentTask('1. Do {name}', '- {name} is done', `- working-dir: ${folder}/place`).replace(
          AGENT,
          `${AGENT} ${join(folder, CALLS)}`,
        ),
      );
      const behaviour = { [role]: { sh: 'touch ../begun; while ! test -e ../go; do sleep 0.05; done' } };
      work.write('place/behaviour.json', JSON.stringify(behaviour));
      work.write(CALLS, '');
      const running = shift.launch();
      await until(() => work.exists('begun'), `the ${role}`);
      const before = rows(shift);
      disk.fill();
      work.write('go', '');
      const ended = await running.ended;
      expectFull(ended, shift);
      expect(rows(shift)).toEqual(before);
      disk.makeRoom();
      const resumed = await shift.start();
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(rows(shift).map(({ make_page }) => make_page)).toEqual(names.map(() => 'done'));
      if (role === 'qa') {
        // What was at qa had been done: judged again, not done again.
        const devs = work.calls().filter((call) => call.role === 'dev' && !call.ended);
        expect(devs.map(({ name }) => name).sort()).toEqual(names);
      }
    },
  );

  test('a journal that can not grow ends the run', async () => {
    const work = new Project();
    const shift = work.shift('pages', {
      settings: { parallel: true, 'current-batch-size': 2, agent: 'shell', dispatch: 'stream' },
      table: `name,make_page\n${names.map((name) => `${name},todo\n`).join('')}`,
      tasks: { make_page: shellTask('touch begun-{name}; while ! test -e go; do sleep 0.05; done') },
    });
    const running = shift.spawn();
    await until(() => work.exists('begun-b'), 'the second item');
    // What the journal has by now; the table and the manifest are smaller.
    execFileSync('prlimit', ['--pid', String(running.pid), '--fsize=1500']);
    work.write('go', '');
    const ended = await running.ended;
    expectFull(ended, shift);
    expect(ended.stderr).toMatch(/ to write .*journal\.jsonl$/m);
    // It could not be written down, so nobody can tell it from a kill.
    expect(shift.journal().filter(({ type }) => type === 'run:finished')).toEqual([]);
    expect((await work.run(['status', 'pages'])).stdout).toMatch(
      /^the last run was killed, or ended by an error, after /m,
    );
    expect((await shift.start()).code).toBe(0);
    expect(shift.column('make_page')).toEqual(names.map(() => 'done'));
  });
});
