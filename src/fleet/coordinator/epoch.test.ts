import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { describeServer } from '../../../test/kit/postgres.ts';
import { FleetDatabase } from '../database.ts';
import { isTransient } from '../failure.ts';
import { SCHEMA } from '../schema.ts';
import { Epoch } from './epoch.ts';
import { readRows } from './line-rows.ts';

describeServer('the coordinators of a shift', (server) => {
  const open = () => new FleetDatabase({ url: server.url, isInsecure: false });

  test('one whose machine has vanished in a transaction keeps the next one out for seconds only', async () => {
    const shift = { key: randomUUID(), name: 'night', host: 'here' };
    const first = { database: open(), epoch: new Epoch(shift, 90) };
    const second = { database: open(), epoch: new Epoch(shift, 90) };
    await first.database.install();
    await first.epoch.begin(first.database);
    let wake = () => {};
    const vanished = first.epoch.write(first.database, async (own) => {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      await own.query('select 1');
    });
    vanished.catch(() => {});
    await second.database.join();
    await second.epoch.begin(second.database);
    expect(second.epoch.number).toBe(2);
    wake();
    // It may try again, and learns that it was replaced.
    expect(isTransient(await vanished.catch((error: unknown) => error))).toBe(true);
    await expect(first.epoch.write(first.database, async () => {})).rejects.toThrow('has taken over this shift');
    for (const { database } of [first, second]) await database[Symbol.asyncDispose]();
  });

  test('one that was replaced gets no lines, and what workers were told outlives a repair', async () => {
    const shift = { key: randomUUID(), name: 'night', host: 'here' };
    await using database = open();
    await database.install();
    const epoch = new Epoch(shift, 90);
    await epoch.begin(database);
    await database.query(
      `insert into ${SCHEMA}.line (order_id, n, shift, worker, lines) values ($1, 1, $2, 'w', '[]')`,
      [randomUUID(), shift.key],
    );
    const lines = async (number: number) =>
      (await readRows(database, { shift: shift.key, epoch: number }, [])).rows.length;
    expect([await lines(epoch.number), await lines(epoch.number - 1)]).toEqual([1, 0]);

    await database.query(`update ${SCHEMA}.shift set spent = 'max-cost', mode = 'stop' where key = $1`, [shift.key]);
    await epoch.beginAgain(database);
    const told = await database.query(`select spent, mode from ${SCHEMA}.shift where key = $1`, [shift.key]);
    expect(told.rows).toEqual([{ spent: 'max-cost', mode: 'stop' }]);
  });
});

test.each([
  ['a socket file that is gone during a restart', { code: 'ENOENT', syscall: 'connect' }, true],
  ['a certificate file that is missing', { code: 'ENOENT', syscall: 'open' }, false],
  ['a session that was ended because it stood still', { code: '25P03' }, true],
  ['a wrong password', { code: '28P01' }, false],
])('trying again after %s', (_, fields, expected) => {
  expect(isTransient(Object.assign(new Error('failed'), fields))).toBe(expected);
});
