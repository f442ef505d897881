import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newSigningKey, signerFrom } from '../../src/fleet/signature.ts';
import { shellTask, until } from '../harness.ts';
import { sandboxTest } from '../kit/sandbox-test.ts';
import { whileHeld } from './agent-runs.ts';
import { eventually } from './eventually.ts';
import { FleetSite, LONG_LEASE, tableOf } from './fleet-kit.ts';
import { describeFleet } from './fleet-postgres.ts';

const CANARIES = { API_TOKEN: 'canary-of-the-env-file', OTHER_TOKEN: 'canary-of-the-environment' };
/** The shift does not name it. */
const FOREIGN = 'canary-of-another-shift';

describeFleet('secrets of a fleet', (postgres) => {
  test('neither values of a worker nor the address of the database get anywhere', async () => {
    const password = new URL(postgres.url).password;
    // An agent that tells all it knows: as text, as an output, and as the reason of a failure.
    const step = [
      'env >>"$WITNESS"; echo begun >>"$WITNESS"',
      '$HELD',
      'echo "by=nothing" >>"$NIGHTSHIFT_OUTPUT"',
      'echo "said $API_TOKEN and $OTHER_TOKEN" | tee /dev/stderr',
      // A secret of another shift, which it has found on the worker.
      'cat "$FOLDER/worker.env"',
      'test "$NIGHTSHIFT_ROW" != 2 || echo "by=$API_TOKEN" >>"$NIGHTSHIFT_OUTPUT"',
      'test "$NIGHTSHIFT_ROW" != 3 || { echo "failed with $OTHER_TOKEN" >&2; exit 1; }',
    ].join('\n');
    const site = new FleetSite({
      postgres,
      table: tableOf(3, ['work'], ['by']),
      tasks: (witness) => ({
        work: shellTask(
          step
            .replace('$HELD', whileHeld(witness))
            .replaceAll('$WITNESS', witness)
            .replace('$FOLDER', dirname(witness)),
          'true',
          '- agent: shell\n- workspace: none\n- outputs: by\n- attempts: 1',
        ),
      }),
      env: 'API_TOKEN=the-coordinator-has-another\nOTHER_TOKEN=and-another\n',
      settings: { 'current-batch-size': 4 },
    });
    site.project.write('worker.env', `API_TOKEN=${CANARIES.API_TOKEN}\nFOREIGN_TOKEN=${FOREIGN}\n`);
    site.hold();
    const address = { NIGHTSHIFT_FLEET_URL: site.url };
    const coordinator = site.coordinator({ url: 'env', env: address });
    site.worker('w1', {
      args: ['--env-file', site.project.path('worker.env'), '--secrets', 'OTHER_TOKEN'],
      env: { ...address, OTHER_TOKEN: CANARIES.OTHER_TOKEN },
    });
    const seen = () => (site.project.exists('witness.log') ? readFileSync(site.witness, 'utf8') : '');
    await until(() => seen().match(/^begun$/gm)?.length === 3, 'three agents');
    // What they say now stays in the database.
    coordinator.freeze();
    site.release();
    const reported = () => postgres.query(`select from nightshift.job where state = 'completed'`);
    await eventually('three reports', async () => (await reported()).length === 3);
    const dumps = [await postgres.dump()];
    coordinator.thaw();
    expect(await coordinator.ended).toMatchObject({ code: 3 });
    expect(site.shift.column('work')).toEqual(['done', 'failed', 'failed']);
    dumps.push(await postgres.dump());

    for (const canary of Object.values(CANARIES)) expect(seen()).toContain(canary);
    for (const unknown of [FOREIGN, 'FOREIGN_TOKEN', password, 'NIGHTSHIFT_FLEET'])
      expect(seen()).not.toContain(unknown);
    const places = [
      ...dumps.map((text, i) => ({ name: `dump ${i}`, text })),
      ...filesIn(site.project.path('.nightshift')),
      ...filesIn(site.project.path('machines')),
    ];
    expect(places.length).toBeGreaterThan(10);
    const said = 'said [API_TOKEN] and [OTHER_TOKEN]';
    const [inFlight, ...others] = places.filter(({ text }) => text.includes(said)).map(({ name }) => name);
    expect(inFlight).toBe('dump 0');
    expect(others).toContainEqual(expect.stringContaining('transcripts'));
    expect(dumps[0]).toContain('FOREIGN_TOKEN=[FOREIGN_TOKEN]');
    const secret = [...Object.values(CANARIES), FOREIGN, password];
    const found = places.filter(({ text }) => secret.some((value) => text.includes(value))).map(({ name }) => name);
    expect(found).toEqual([]);
  });

  sandboxTest('in the sandbox, the file with the secrets of a worker is hidden', async () => {
    // Not in a folder that the sandbox hides as a whole.
    const folder = mkdtempSync(resolve('node_modules/.secrets-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'worker.env');
    writeFileSync(file, `FOREIGN_TOKEN=${FOREIGN}\n`);
    const site = new FleetSite({
      postgres,
      table: tableOf(1, ['work'], ['size']),
      tasks: () => ({
        work: shellTask(
          `echo "size=$(cat ${file} | wc -c)" >>"$NIGHTSHIFT_OUTPUT"`,
          'true',
          '- agent: shell\n- workspace: none\n- outputs: size\n- sandbox: true',
        ),
      }),
    });
    site.worker('w1', { args: ['--env-file', file] });
    const coordinator = site.coordinator();
    expect(await coordinator.ended, coordinator.log).toMatchObject({ code: 0 });
    expect(site.shift.column('size')).toEqual(['0']);
  });

  test('an order that is unsigned, altered or signed with another key never runs, is refused and sent again', async () => {
    const site = new FleetSite({
      postgres,
      table: tableOf(4, ['work']),
      tasks: (witness) => ({
        work: shellTask(`echo "harmless $NIGHTSHIFT_ROW" >>${witness}`, 'true', '- agent: shell\n- workspace: none'),
      }),
      settings: { 'current-batch-size': 4 },
    });
    const worker = site.worker('w1', { slots: 4 });
    await worker.printed('is ready');
    // Its orders wait while it stands still.
    worker.freeze();
    const coordinator = site.coordinator({ env: LONG_LEASE });
    const orders = () =>
      postgres.query<{ id: string }>(`select id from nightshift.job where data ? 'body' order by created_on`);
    await eventually('four orders', async () => (await orders()).length === 4);
    const [altered, unsigned, other] = (await orders()).map(({ id }) => id);
    const evil = `replace(data ->> 'body', 'harmless', 'harmful')`;
    await postgres.query(
      `update nightshift.job set data = jsonb_set(data, '{body}', to_jsonb(${evil})) where id = $1`,
      [altered],
    );
    await postgres.query(`update nightshift.job set data = jsonb_build_object('body', ${evil}) where id = $1`, [
      unsigned,
    ]);
    const [{ body }] = (await postgres.query<{ body: string }>(
      `select ${evil} as body from nightshift.job where id = $1`,
      [other],
    )) as [{ body: string }];
    const forged = signerFrom(newSigningKey()).seal(JSON.parse(body));
    await postgres.query('update nightshift.job set data = $2 where id = $1', [other, JSON.stringify(forged)]);
    // And one that nobody has sent.
    await postgres.query(
      `insert into nightshift.job_common (id, name, data) select gen_random_uuid(), name, jsonb_build_object('body', ${evil})
       from nightshift.job where id = $1`,
      [altered],
    );
    worker.thaw();
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    expect(site.shift.column('work')).toEqual(Array(4).fill('done'));
    const ran = readFileSync(site.witness, 'utf8').trim().split('\n').sort();
    expect(ran).toEqual([1, 2, 3, 4].map((row) => `harmless ${row}`));
    expect(worker.log.match(/was refused: it is not signed/g)!.length).toBeGreaterThanOrEqual(3);
    const warnings = site.journal().filter(({ type }) => type === 'run:warning');
    expect(warnings.filter(({ message }) => message.includes('refused the order of row'))).toHaveLength(3);
  });
});

function filesIn(folder: string): { name: string; text: string }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => statSync(name).isFile())
    .map((name) => ({ name, text: readFileSync(name, 'latin1') }));
}
