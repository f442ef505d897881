import { expect, test } from 'vitest';
import { sleep, until } from '../../harness.ts';
import { describePostgres } from '../../kit/postgres.ts';
import { judge, readAgentRuns, witnessTask } from '../agent-runs.ts';
import { FleetSite, LEASE_MS, tableOf } from '../fleet-kit.ts';
import { startFleetPostgres } from '../fleet-postgres.ts';

const ROWS = 20;
const SECONDS = 5;

describePostgres('workers that stood still past their lease', () => {
  test('20 late results are refused and reported', async () => {
    await using postgres = await startFleetPostgres();
    const site = new FleetSite({
      postgres,
      table: tableOf(ROWS, ['work'], ['by']),
      tasks: (witness) => ({ work: witnessTask(witness, SECONDS) }),
      settings: { 'current-batch-size': ROWS },
    });
    const zombies = ['zombie-1', 'zombie-2'].map((name) => site.worker(name, { slots: ROWS / 2 }));
    for (const zombie of zombies) await zombie.printed('is ready');
    const coordinator = site.coordinator();
    const agentRuns = () => readAgentRuns(site.witness);
    await until(() => agentRuns().length === ROWS, 'all agents');
    for (const zombie of zombies) zombie.freeze();
    const since = Date.now();
    const lost = () => site.journal().filter(({ type }) => type === 'worker:lost').length;
    await until(() => lost() === 2, 'both workers to be lost');
    // Past the lease in any case.
    await sleep(Math.max(0, LEASE_MS + 2000 - (Date.now() - since)));
    expect(agentRuns().filter(({ end }) => end !== undefined)).toHaveLength(ROWS);
    site.worker('other', { slots: ROWS });
    await until(() => agentRuns().length > ROWS, 'the other worker to begin');
    for (const zombie of zombies) zombie.thaw();
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    expect(judge(site, 'work', SECONDS)).toMatchObject({ lost: [], recordedTwice: [], acceptedBesideAnother: [] });
    const refused = site.journal().filter(({ type }) => type === 'result:refused');
    const said = zombies.flatMap(({ log }) => log.match(/refused: the lease had expired/g) ?? []).length;
    console.log(`${refused.length} of ${ROWS} late results refused in the journal, ${said} by workers`);
    expect([refused.length, said]).toEqual([ROWS, ROWS]);
    expect(new Set(refused.map(({ index }) => index)).size).toBe(ROWS);
  });
});
