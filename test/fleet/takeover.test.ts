import { cpSync } from 'node:fs';
import pg from 'pg';
import { expect, test } from 'vitest';
import { newSigningKey, signerFrom } from '../../src/fleet/signature.ts';
import { Project, type RunningProcess, ShiftHandle, until } from '../harness.ts';
import { describeServer } from '../kit/postgres.ts';
import { readAgentRuns, witnessTask } from './agent-runs.ts';
import { eventually } from './eventually.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';

const ROWS = 6;

describeServer('a second coordinator on a copy of the folder', (postgres) => {
  function newSite(): FleetSite {
    const site = new FleetSite({
      postgres,
      table: tableOf(ROWS, ['work'], ['by']),
      tasks: (witness) => ({ work: witnessTask(witness, 'while-held') }),
      settings: { 'current-batch-size': 4 },
    });
    site.hold();
    return site;
  }

  const begun = (site: FleetSite) => readAgentRuns(site.witness);

  function startCopy(site: FleetSite, signingKey: string): { shift: ShiftHandle; process: RunningProcess } {
    const copy = new Project();
    cpSync(site.project.path('.nightshift'), copy.path('.nightshift'), { recursive: true });
    const env = {
      NIGHTSHIFT_FLEET_SIGNING_KEY: signingKey,
      NIGHTSHIFT_FLEET_LEASE: '10s',
      XDG_STATE_HOME: copy.path('state'),
    };
    const process = copy.spawn(['start', 'fleet', '--json', '--fleet', site.url], { env });
    return { shift: new ShiftHandle(copy, 'fleet'), process };
  }

  /** Meanwhile, no coordinator can find out that it was replaced. */
  async function beforeNoticing(act: () => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    await client.query('begin; select from nightshift.shift for update');
    await act();
    await client.query('rollback');
    await client.end();
  }

  /** Whether a coordinator that has asked for the ends of its orders waits for the lock. */
  const hasSeenResults = async () => {
    const sessions = await postgres.query<{ query: string; isWaiting: boolean }>(
      `select query, wait_event_type = 'Lock' as "isWaiting" from pg_stat_activity where application_name = 'nightshift'`,
    );
    const hasAsked = sessions.some(({ query }) => query.startsWith('select id, name, state, output'));
    return hasAsked && sessions.some(({ isWaiting }) => isWaiting);
  };

  /** What the older has changed in its own folder since. */
  const recorded = (site: FleetSite) => site.journal().filter(({ type }) => type === 'item:recorded').length;

  test('X9 the older one sees results, but records and sends nothing and exits with 5; the new one has its orders', async () => {
    const site = newSite();
    site.worker('w1', { slots: 4 });
    const older = site.coordinator();
    await until(() => begun(site).length === 4, 'four agents');
    older.freeze();
    const before = site.shift.tableText;
    const { shift, process: newer } = startCopy(site, site.signingKey);
    expect(await newer.seen('run:started')).toMatchObject({ adopted: 4 });
    // The older one has no competition for the results, and would have slots for the other rows.
    newer.kill('SIGSTOP');
    site.release();
    const states = () => postgres.query<{ state: string }>('select state from nightshift.job');
    await eventually('four reports', async () => (await states()).every(({ state }) => state === 'completed'));
    await beforeNoticing(async () => {
      older.thaw();
      await eventually('the older one to see the results', hasSeenResults);
    });
    expect(await older.ended).toMatchObject({ code: 5 });
    expect(older.log).toContain('another coordinator has taken over this shift');
    expect(recorded(site)).toBe(0);
    expect(site.shift.tableText).toBe(before);
    expect(await states()).toEqual(Array(4).fill({ state: 'completed' }));

    newer.kill('SIGCONT');
    const { code } = await newer.ended;
    expect({ code, statuses: shift.column('work') }).toEqual({ code: 0, statuses: Array(ROWS).fill('done') });
    // None was done again.
    expect(begun(site)).toHaveLength(ROWS);
    expect(shift.column('by').sort()).toEqual(
      begun(site)
        .map(({ id }) => id)
        .sort(),
    );
  });

  test('also with another key, which its workers then need', async () => {
    const site = newSite();
    const worker = site.worker('w1', { slots: 4 });
    const older = site.coordinator();
    await until(() => begun(site).length === 4, 'four agents');
    const key = newSigningKey();
    const { shift, process: newer } = startCopy(site, key);
    expect(await older.ended).toMatchObject({ code: 5 });
    const waiting = await newer.seen('fleet:waiting');
    expect(waiting.reason).toMatch(/no worker has key:/);
    expect(worker.log).not.toContain('refused: it is not signed');
    site.worker('w2', { slots: 4, args: ['--key', signerFrom(key).publicKey] });
    site.release();
    const { code } = await newer.ended;
    expect({ code, statuses: shift.column('work') }).toEqual({ code: 0, statuses: Array(ROWS).fill('done') });
    expect(recorded(site)).toBe(0);
  });
});
