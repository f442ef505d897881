import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isAlive, shellTask, until } from '../harness.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';
import { describeFleet } from './fleet-postgres.ts';

/** An agent that does not end when it is asked to, and has a child that doesn't, either. */
const STUBBORN = "trap '' TERM INT HUP\nsleep 600 & sleep 600";

/** The bars, on a quiet machine. Beside other tests, they only show that agents end by themselves. */
const [WITHDRAWN_MS, STOPPED_MS] = process.env.NIGHTSHIFT_TARGETS === 'yes' ? [3000, 10_000] : [30_000, 60_000];

describeFleet('agents on workers end', (postgres) => {
  function newSite(rows: number, agent: string): FleetSite {
    return new FleetSite({
      postgres,
      table: tableOf(rows, ['work']),
      tasks: (witness) => ({
        work: shellTask(`echo "{name} $$" >>${witness}\n${agent}`, 'true', '- agent: shell\n- workspace: none'),
      }),
      settings: { 'current-batch-size': rows },
    });
  }

  function agents(site: FleetSite): { name: string; pid: number }[] {
    if (!site.project.exists('witness.log')) return [];
    const lines = readFileSync(site.witness, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => ({ name: line.split(' ')[0]!, pid: Number(line.split(' ')[1]) }));
  }

  /** Everything that was started for an item of this site. */
  function processes({ project }: FleetSite): number[] {
    return readdirSync('/proc').flatMap((pid) => {
      try {
        const environment = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/environ`, 'utf8') : '';
        return environment.includes(`NIGHTSHIFT_SHIFT_DIR=${project.root}`) && isAlive(Number(pid))
          ? [Number(pid)]
          : [];
      } catch {
        return [];
      }
    });
  }

  test('within 3 seconds when their item is withdrawn', async () => {
    const site = newSite(3, 'sleep 600');
    site.worker('w1', { slots: 4 });
    const coordinator = site.coordinator();
    await until(() => agents(site).length === 3, 'three agents');
    const before = Object.fromEntries(agents(site).map(({ name, pid }) => [name, pid]));
    // A cell is set back, and a row is removed.
    const since = Date.now();
    site.shift.tableText = site.shift.tableText.replace('item-1,in_progress', 'item-1,todo').replace(/item-2,.*\n/, '');
    const ended = { 'item-1': 0, 'item-2': 0 };
    await until(() => {
      for (const name of ['item-1', 'item-2'] as const) {
        if (!isAlive(before[name]!)) ended[name] ||= Date.now() - since;
      }
      return ended['item-1'] > 0 && ended['item-2'] > 0;
    }, 'both agents to end');
    console.log(`withdrawn: agents ended after ${ended['item-1']} and ${ended['item-2']} ms`);
    expect(Math.max(...Object.values(ended))).toBeLessThanOrEqual(WITHDRAWN_MS);
    expect(isAlive(before['item-3']!)).toBe(true);
    // What was set back is done again.
    await until(() => agents(site).filter(({ name }) => name === 'item-1').length === 2, 'item-1 to start again');
    expect(site.shift.rows().map(({ name, work }) => `${name} ${work}`)).toEqual([
      'item-1 in_progress',
      'item-3 in_progress',
    ]);
    await coordinator.kill();
  });

  test('within 10 seconds with `stop --now`, 16 of them on two workers, and no process is left', async () => {
    const site = newSite(16, STUBBORN);
    const workers = [site.worker('w1', { slots: 8 }), site.worker('w2', { slots: 8 })];
    for (const worker of workers) await worker.printed('is ready');
    const coordinator = site.coordinator();
    await until(() => agents(site).length === 16, 'sixteen agents');
    expect(processes(site).length).toBeGreaterThanOrEqual(32);
    const since = Date.now();
    site.command(['stop', 'fleet', '--now']);
    const { code } = await coordinator.ended;
    const took = Date.now() - since;
    console.log(`stop --now: the run ended after ${took} ms`);
    expect(processes(site)).toEqual([]);
    expect(code).toBe(130);
    expect(took).toBeLessThanOrEqual(STOPPED_MS);
    expect(site.shift.column('work')).toEqual(Array(16).fill('todo'));
    expect(workers.every(({ isRunning }) => isRunning)).toBe(true);
  });
});
