import { expect } from 'vitest';
import { postgresTest, startTestPostgres } from '../../test/kit/postgres.ts';
import { addressFor } from './admin.ts';
import { Connection } from './connection.ts';
import { isTransient } from './failure.ts';

postgresTest(
  'a server that lets a connection in and refuses to listen, as a standby does, keeps none open',
  async () => {
    await using server = await startTestPostgres();
    await using connection = new Connection({ connectionString: server.url });
    const open = async () => {
      const [row] = await server.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where application_name = 'nightshift'`,
      );
      return row!.count;
    };
    await connection.query('select 1');
    // No server listens to a channel without a name, now or after the connection was lost.
    await expect(connection.listen([''], () => {})).rejects.toThrow();
    expect(await open()).toBe(1);
    await server.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'nightshift'`);
    for (let tries = 0; tries < 5; tries++) await expect(connection.query('select 1')).rejects.toThrow();
    await expect.poll(open).toBe(0);
  },
);

postgresTest(
  'a login that has worked and is refused later is like an outage: someone may set the password back',
  async () => {
    await using server = await startTestPostgres();
    await server.query(`create role someone login password 'one'`);
    const url = addressFor(server.url, { name: 'someone', password: 'one' });
    await using connection = new Connection({ connectionString: url });
    await connection.query('select 1');
    const change = async (password: string) => {
      await server.query(`alter role someone password '${password}'`);
      await server.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'someone'`);
    };
    await change('two');
    const failure = await expect
      .poll(() => connection.query('select 1').catch((error: unknown) => error))
      .toSatisfy(
        (error) => error instanceof Error && /password authentication failed/.test(error.message) && isTransient(error),
      );
    await change('one');
    await expect
      .poll(() => connection.query('select 1 as one').catch(() => failure))
      .toMatchObject({ rows: [{ one: 1 }] });

    // One that never worked is wrong input.
    await using wrong = new Connection({
      connectionString: addressFor(server.url, { name: 'someone', password: 'x' }),
    });
    const error = await wrong.query('select 1').catch((each: unknown) => each);
    expect([error instanceof Error, isTransient(error)]).toEqual([true, false]);
  },
);

postgresTest('a database that is away while someone restores it is like an outage', async () => {
  await using server = await startTestPostgres();
  await server.query('create database restored');
  const url = new URL(server.url);
  url.pathname = '/restored';
  await using connection = new Connection({ connectionString: url.href });
  await connection.query('select 1');
  const refusal = async () => isTransient(await connection.query('select 1').catch((error: unknown) => error));
  await server.query('alter database restored allow_connections false');
  await server.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = 'restored'`);
  await expect.poll(refusal).toBe(true);
  expect(await refusal()).toBe(true);
  await server.query('drop database restored');
  expect(await refusal()).toBe(true);
  await server.query('create database restored');
  expect((await connection.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});
