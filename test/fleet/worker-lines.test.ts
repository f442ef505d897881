import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { addressFor, initFleet } from '../../src/fleet/admin.ts';
import { FleetDatabase } from '../../src/fleet/database.ts';
import { SCHEMA } from '../../src/fleet/schema.ts';
import { shellTask, task } from '../harness.ts';
import { describeServer } from '../kit/postgres.ts';
import { eventually } from './eventually.ts';
import { FleetSite, holdOf, tableOf } from './fleet-kit.ts';

/** A report that an agent has cut in the middle of an emoji, and a text that only looks like a control character. */
const REPORT = String.raw`{"overall_status":"SUCCESS","captured_values":{"by":"half \ud83d","pattern":"[\\u0000-\\u001f]"},"usage":{"cost_usd":0.5}}`;

describeServer('what workers send', (postgres) => {
  let workerUrl: string;
  beforeAll(async () => {
    await using admin = new FleetDatabase({ url: postgres.url, isInsecure: false });
    workerUrl = addressFor(postgres.url, (await initFleet(admin)).worker);
  });
  test('a result with half a character counts at once, with its costs', async () => {
    const site = new FleetSite({
      postgres,
      table: tableOf(1, ['work'], ['by', 'pattern']),
      tasks: (witness) => ({
        work: task({
          configuration: `- agent: command\n- command: sh ${witness}.agent.sh\n- workspace: none\n- outputs: by, pattern`,
          steps: '1. Do {name}',
          validation: '- It is done\n\n  ```sh\n  true\n  ```',
        }),
      }),
    });
    site.project.write('witness.log.agent.sh', `echo x >>'${site.witness}'\ncat <<'END'\n${REPORT}\nEND\n`);
    const coordinator = site.coordinator();
    const worker = site.worker('w1', { url: workerUrl });
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    expect(site.shift.column('by')).toEqual(['half \ufffd']);
    expect(site.shift.column('pattern')).toEqual(['[\\u0000-\\u001f]']);
    expect(readFileSync(site.witness, 'utf8')).toBe('x\n');
    expect(worker.log).not.toContain('could not be reported');
    const spent = site.journal().filter(({ type }) => type === 'usage:spent');
    expect(spent.map(({ usage }) => usage.costUsd)).toEqual([0.5]);
  });

  test('lines from a hostile worker affect only its own orders, and end nothing', async () => {
    const site = new FleetSite({
      postgres,
      table: tableOf(1, ['work']),
      tasks: (witness) => ({
        work: shellTask(
          `while test -e ${holdOf(witness)}; do sleep 0.1; done`,
          'true',
          '- agent: shell\n- workspace: none',
        ),
      }),
    });
    site.hold();
    const coordinator = site.coordinator();
    site.worker('w1', { url: workerUrl });
    await using hostile = new FleetDatabase({ url: workerUrl, isInsecure: false });
    const active = () =>
      postgres.query<{ id: string; shift: string }>(
        `select id, shift from ${SCHEMA}.job join ${SCHEMA}.route on route.queue = job.name where state = 'active'`,
      );
    await eventually('the order', async () => (await active()).length === 1);
    const [{ id, shift }] = (await active()) as [{ id: string; shift: string }];
    const send = (order: string, ...whats: object[]) =>
      hostile.query(`insert into ${SCHEMA}.line (order_id, n, shift, worker, lines) values ($1, 900, $2, 'evil', $3)`, [
        order,
        shift,
        JSON.stringify(whats.map((what, i) => ({ n: 900 + i, what }))),
      ]);
    const recorded = { type: 'item:recorded', from: 'todo', to: 'failed', reason: 'FORGED' };
    const subject = { task: 'work', index: 7, item: 'other', run: 'forged', seq: 1, at: 'never', worker: 'other' };
    const entry = { kind: 'text', text: 'said', ...recorded };
    await send(
      id,
      recorded,
      { type: 'transcript', key: 'k', role: '/../../../journal', entry },
      { type: 'transcript', key: '../../../../../table', role: 'dev' },
      { type: 'usage:spent', role: 'dev', agent: 'a', usage: { costUsd: -5 } },
      { type: 'run:warning', message: 'a warning', ...subject },
    );
    await send(
      randomUUID(),
      { type: 'usage:spent', role: 'dev', agent: 'a', usage: { costUsd: 0.25 }, ...subject },
      { type: 'dev:finished', status: 'FORGED', attempts: 1, ms: 1, key: 'k', ...subject },
    );
    const journal = () => site.journal();
    await eventually('its lines', async () => journal().some(({ usage }) => usage?.costUsd === 0.25));
    site.release();
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    expect(site.shift.column('work')).toEqual(['done']);
    expect(JSON.stringify(journal())).not.toContain('FORGED');
    const [own, others, ...more] = journal().filter(({ worker }) => worker === 'evil');
    expect(own).toMatchObject({ type: 'run:warning', message: 'a warning', task: 'work', index: 0, order: id, n: 904 });
    expect([own.item, own.run, own.at].some((value) => ['other', 'forged', 'never'].includes(value))).toBe(false);
    expect(others).toMatchObject({ type: 'usage:spent', usage: { costUsd: 0.25 } });
    expect(others).not.toHaveProperty('item');
    expect(more).toEqual([]);
    const warnings = journal().filter(({ message }) => message?.includes('ignoring invalid events from worker evil'));
    expect(warnings).toHaveLength(1);
  });
});
