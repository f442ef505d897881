import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { shellTask, until } from '../harness.ts';
import { describeServer } from '../kit/postgres.ts';
import { whileHeld } from './agent-runs.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';

describeServer('a table that is edited while the coordinator is down', (postgres) => {
  /** Each agent tells for whom it worked, in the witness and in its row. */
  const agent = (witness: string) => `id={name}-$$
echo "begin {name} $id" >>${witness}
${whileHeld(witness)}
echo "by=$id" >>"$NIGHTSHIFT_OUTPUT"
echo "end {name} $id" >>${witness}`;

  function told(site: FleetSite, what: string): string[] {
    if (!site.project.exists('witness.log')) return [];
    const lines = readFileSync(site.witness, 'utf8').trim().split('\n');
    return lines.filter((line) => line.startsWith(what)).map((line) => line.split(' ')[1]!);
  }

  test.each([
    ['while agents work', false],
    ['after they have ended', true],
  ])('no status gets to a wrong row: started again %s', async (_, isLate) => {
    const site = new FleetSite({
      postgres,
      table: tableOf(8, ['work'], ['by']),
      tasks: (witness) => ({
        work: shellTask(agent(witness), 'true', '- agent: shell\n- workspace: none\n- outputs: by'),
      }),
      settings: { 'current-batch-size': 6 },
    });
    site.hold();
    site.worker('w1', { slots: 6 });
    const coordinator = site.coordinator();
    await until(() => told(site, 'begin').length === 6, 'six agents');
    await coordinator.kill();
    const [header, ...rows] = site.shift.tableText.trim().split('\n');
    const edited = rows
      .reverse()
      .filter((row) => !row.startsWith('item-2,'))
      .map((row) => row.replace('item-3,in_progress', 'item-3,todo').replace('item-4,', 'item-4b,'));
    site.shift.tableText = `${[header, ...edited].join('\n')}\n`;
    if (isLate) {
      site.release();
      await until(() => told(site, 'end').length === 6, 'the agents to end');
    }
    const again = site.coordinator();
    await again.printed('"adopted":');
    site.release();
    expect(await again.ended).toMatchObject({ code: 0 });

    const names = ['item-8', 'item-7', 'item-6', 'item-5', 'item-4b', 'item-3', 'item-1'];
    const after = site.shift.rows();
    expect(after.map(({ name, work }) => `${name} ${work}`)).toEqual(names.map((name) => `${name} done`));
    for (const { name, by } of after) expect(by).toMatch(new RegExp(`^${name}-\\d+$`));
    const times = (name: string) => told(site, 'begin').filter((each) => each === name).length;
    // Those that were not touched are not done again; the others are, and none else.
    expect(names.map(times)).toEqual([1, 1, 1, 1, 1, 2, 1]);
    expect([times('item-2'), times('item-4')]).toEqual([1, 1]);
    // The journal names the rows as they are now.
    const events = site.journal().filter(({ type, run }) => type === 'dev:finished' && run === lastRun(site));
    expect(events.map(({ index }) => names[index]).sort()).toEqual([...names].sort());
    for (const { index, label } of events) expect(label).toBe(names[index]);
  });

  const lastRun = (site: FleetSite) => site.journal().findLast(({ type }) => type === 'run:started').run;
});
