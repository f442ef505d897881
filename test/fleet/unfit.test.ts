import { expect, test } from 'vitest';
import { agentTask, shellTask, until } from '../harness.ts';
import { type FleetProcess, FleetSite, LONG_LEASE, tableOf } from './fleet-kit.ts';
import { describeFleet } from './fleet-postgres.ts';

describeFleet('orders that no worker fits', (postgres) => {
  const reasons = (site: FleetSite) =>
    site.journal().flatMap(({ type, reason }) => (type === 'fleet:waiting' ? [reason] : []));

  test('a dev’s order is given back, and others use its slot', async () => {
    const settings = '- agent: shell\n- workspace: none';
    const site = new FleetSite({
      postgres,
      // Its row comes first, and there is one slot.
      table: 'name,gpu,plain\none,todo,todo\ntwo,done,todo\n',
      tasks: () => ({
        gpu: shellTask('true', 'true', `${settings}\n- worker-labels: gpu`),
        plain: shellTask('true', 'true', settings),
      }),
      settings: { 'current-batch-size': 1 },
    });
    const frozen = site.worker('frozen', { args: ['--labels', 'gpu'] });
    const plain = site.worker('plain');
    await Promise.all([frozen, plain].map((worker) => worker.printed('is ready')));
    frozen.freeze();
    const coordinator = site.coordinator({ env: LONG_LEASE });
    await until(() => site.journal().some(({ type }) => type === 'batch:claimed'), 'an order');
    expect(await site.project.run(['fleet', 'drain', 'frozen', '--url', site.url])).toMatchObject({ code: 0 });

    await until(() => site.shift.column('plain')[1] === 'done', 'the other row');
    expect(site.shift.column('gpu')).toEqual(['todo', 'done']);
    await until(() => reasons(site).includes('no worker has label:gpu'), 'the reason');
    const returned = site.journal().filter(({ type }) => type === 'item:returned');
    expect(returned).toMatchObject([{ task: 'gpu', reason: 'no worker has label:gpu' }]);

    site.worker('other', { args: ['--labels', 'gpu'] });
    expect(await coordinator.ended).toMatchObject({ code: 0 });
  });

  /** Its only item waits for a worker that judges it. */
  async function waitingForQa(): Promise<{ site: FleetSite; coordinator: FleetProcess; dev: FleetProcess }> {
    const site = new FleetSite({
      postgres,
      table: tableOf(1, ['work']),
      tasks: () => ({ work: agentTask('1. Do it', '- It is done', '- workspace: none') }),
    });
    const dev = site.worker('dev', { args: ['--roles', 'dev'] });
    const coordinator = site.coordinator();
    await until(() => reasons(site).includes('no worker has role:qa'), 'the reason');
    expect(site.shift.column('work')).toEqual(['qa']);
    return { site, coordinator, dev };
  }

  test('a qa’s order waits, and this is reported once', async () => {
    const { site, coordinator } = await waitingForQa();
    site.worker('qa', { args: ['--roles', 'qa'] });
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    expect(reasons(site).filter((reason) => reason === 'no worker has role:qa')).toHaveLength(1);
  });

  test('a run that is to end does not wait for a worker that judges; later, such a worker is enough', async () => {
    const { site, coordinator, dev } = await waitingForQa();
    coordinator.child.kill('SIGINT');
    await until(() => !coordinator.isRunning, 'the run to end', 20_000);
    expect(await coordinator.ended).toMatchObject({ code: 130 });
    expect(site.shift.column('work')).toEqual(['qa']);
    expect(await postgres.query(`select from nightshift.job where state = 'created'`)).toEqual([]);

    await dev.kill('SIGTERM');
    site.worker('qa', { args: ['--roles', 'qa'] });
    expect(await site.coordinator().ended).toMatchObject({ code: 0 });
    expect(site.shift.column('work')).toEqual(['done']);
  });

  test('an item that its worker gave back for lack of an agent is not sent to it again', async () => {
    const settings = '- agent: acp\n- acp-command: /no/such/program\n- tools: missing\n- workspace: none';
    const site = new FleetSite({
      postgres,
      table: tableOf(1, ['work']),
      tasks: () => ({ work: shellTask('true', 'true', settings) }),
    });
    site.worker('w1');
    const coordinator = site.coordinator();
    await until(() => reasons(site).includes('no worker has agent:acp'), 'the reason');
    expect(site.shift.column('work')).toEqual(['todo']);
    expect(site.journal().filter(({ type }) => type === 'batch:claimed')).toHaveLength(1);
    await coordinator.kill('SIGTERM');
  });
});
