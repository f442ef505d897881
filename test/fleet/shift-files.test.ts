import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PIECE, packFiles } from '../../src/fleet/bundle.ts';
import { shellTask, until } from '../harness.ts';
import { eventually } from './eventually.ts';
import { FleetSite, LONG_LEASE, tableOf } from './fleet-kit.ts';
import { describeFleet } from './fleet-postgres.ts';

const NONE = '- agent: shell\n- workspace: none\n- attempts: 1';
const CANARY = 'canary-of-the-coordinator';

describeFleet('files of the shift on workers', (postgres) => {
  /** The step reads `steps/word.txt` of the shift's folder, and the check `expected.txt`. */
  function newSite(rows: number, { step = 'true', settings = NONE, atOnce = 1 } = {}): FleetSite {
    const site = new FleetSite({
      postgres,
      table: tableOf(rows, ['work']),
      tasks: (witness) => ({
        work: shellTask(
          `echo "$(cat "{SHIFT:FOLDER}steps/word.txt") $NIGHTSHIFT_ROW" >>${witness}\n${step}`,
          `test "$(cat "{SHIFT:FOLDER}expected.txt")" = yes`,
          settings,
        ),
      }),
      env: `API_TOKEN=${CANARY}\n`,
      settings: { 'current-batch-size': atOnce },
    });
    write(site, 'steps/word.txt', 'one');
    write(site, 'expected.txt', 'yes');
    site.project.write('worker.env', 'API_TOKEN=a-value-of-the-worker\n');
    return site;
  }

  function write(site: FleetSite, path: string, text: string): void {
    site.project.write(`${site.shift.folder}/${path}`, text);
  }

  const withSecret = (site: FleetSite, ...args: string[]) => ({
    args: ['--env-file', site.project.path('worker.env'), ...args],
  });
  const witness = (site: FleetSite) =>
    site.project.exists('witness.log') ? readFileSync(site.witness, 'utf8').trim().split('\n') : [];
  const warnings = (site: FleetSite): string[] =>
    site.journal().flatMap(({ type, message }) => (type === 'run:warning' ? [message] : []));
  const bundles = () => postgres.query('select distinct hash from nightshift.bundle');

  test('steps and checks use them, an edit counts for the next orders, and nothing of them stays', async () => {
    const site = newSite(5, { step: 'sh "$NIGHTSHIFT_SHIFT_DIR/list.sh"\nsleep 0.5' });
    write(site, 'leak.txt', `the token is ${CANARY}`);
    // More than one statement carries.
    const large = randomBytes(2 * PIECE).toString('hex');
    write(site, 'large.txt', large);
    const list = site.project.path('list');
    write(
      site,
      'list.sh',
      `cd "$(dirname "$0")" && stat -c %a . list.sh >${list} && find * -type f | sort >>${list}; cat large.txt >${list}.large`,
    );
    const worker = site.worker('w1', { ...withSecret(site), slots: 1 });
    const coordinator = site.coordinator();
    await until(() => witness(site).length === 1, 'the first item');
    expect(await bundles()).toHaveLength(1);
    write(site, 'steps/word.txt', 'two');
    expect(await coordinator.ended).toMatchObject({ code: 0 });

    // The second order may have been made within the second in which the files are not looked at again.
    expect(witness(site)).toEqual(['one 1', expect.stringContaining(' 2'), 'two 3', 'two 4', 'two 5']);
    expect(site.project.read('list')).toBe('555\n444\nexpected.txt\nlarge.txt\nlist.sh\nsteps/word.txt\n');
    expect(site.project.read('list.large') === large).toBe(true);
    expect(warnings(site).filter((message) => message.includes("workers don't get leak.txt"))).toHaveLength(1);
    expect(await bundles()).toEqual([]);
    await worker.kill('SIGTERM');
    const folders = readdirSync(site.project.path('machines/w1'), { recursive: true, encoding: 'utf8' });
    expect(folders.filter((name) => name.includes('/fleet/'))).toEqual([]);
  });

  async function alter(): Promise<void> {
    const evil = await packFiles([
      { path: 'steps/word.txt', isProgram: false, bytes: Buffer.from('evil') },
      { path: 'expected.txt', isProgram: false, bytes: Buffer.from('yes') },
    ]);
    await postgres.query(`update nightshift.bundle set bytes = decode($1, 'hex')`, [evil.bytes.toString('hex')]);
  }

  test.each([
    ['were altered in the database', alter, "the files of its shift don't match what the coordinator packed"],
    ['are gone with the schema', () => postgres.query('drop schema nightshift cascade'), undefined],
  ])('files that %s never run, and are sent again', async (_, spoil, refused) => {
    const site = newSite(2, { atOnce: 2 });
    const worker = site.worker('w1', { ...withSecret(site), slots: 2 });
    await worker.printed('is ready');
    // Its orders wait while it stands still.
    worker.freeze();
    const coordinator = site.coordinator({ env: LONG_LEASE });
    await eventually('the bundle', async () => (await bundles()).length === 1);
    await spoil();
    worker.thaw();
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    expect(witness(site).sort()).toEqual(['one 1', 'one 2']);
    if (refused === undefined) return;
    expect(worker.log).toContain(`refused: ${refused}`);
    expect(warnings(site).some((message) => message.includes('refused the order of row'))).toBe(true);
  });

  test('on a shared volume it is the folder itself, and a coordinator that starts again spares the agents', async () => {
    const site = newSite(1, {
      settings: '- agent: shell\n- attempts: 1',
      step: [
        'test -f "{SHIFT:TABLE}" && test "$NIGHTSHIFT_SHIFT_DIR/" = "{SHIFT:FOLDER}"',
        'echo "{SHIFT:FOLDER}" >>witness.log',
        'while [ ! -e go ]; do sleep 0.1; done',
      ].join('\n'),
    });
    site.worker('w1', withSecret(site, '--root', site.project.root));
    const first = site.coordinator();
    await until(() => witness(site).length === 2, 'the agent');
    await first.kill();
    const second = site.coordinator();
    await until(() => site.journal().filter(({ type }) => type === 'run:started').length === 2, 'the second run');
    site.project.write('go', '');
    expect(await second.ended).toMatchObject({ code: 0 });
    expect(witness(site)).toEqual(['one 1', `${site.project.path(site.shift.folder)}/`]);
    expect(await bundles()).toEqual([]);
  });

  test('a start is refused if they are too large, or if a task needs the table', async () => {
    const site = newSite(1);
    write(site, 'data/large.bin', '');
    truncateSync(site.project.path(site.shift.folder, 'data/large.bin'), 21 * 1024 * 1024);
    const large = site.coordinator();
    expect(await large.ended).toMatchObject({ code: 2 });
    expect(large.log).toContain('workers can get up to 20 MiB');
    truncateSync(site.project.path(site.shift.folder, 'data/large.bin'), 0);
    write(site, 'work.md', shellTask('wc -l "{SHIFT:TABLE}"', 'true', NONE));
    const table = site.coordinator();
    expect(await table.ended).toMatchObject({ code: 2 });
    expect(table.log).toContain('{SHIFT:TABLE} in work is not possible in a fleet');
    expect(site.shift.column('work')).toEqual(['todo']);
  });
});
