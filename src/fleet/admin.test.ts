import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { postgresTest, startTestPostgres } from '../../test/kit/postgres.ts';
import { addressFor, initFleet, problemsOfWorker, readFleetStatus } from './admin.ts';
import { FleetDatabase } from './database.ts';
import { SCHEMA } from './schema.ts';

const open = (url: string) => new FleetDatabase({ url, isInsecure: false });

postgresTest(
  'an administrator who is not a superuser makes the roles; each of them has its rights and no more',
  async () => {
    await using server = await startTestPostgres();
    await server.query(`create role admin login createrole password 'secret'`);
    await server.query('alter database nightshift owner to admin');
    await using admin = open(addressFor(server.url, { name: 'admin', password: 'secret' }));
    const roles = await initFleet(admin);

    await using owner = open(addressFor(server.url, roles.owner));
    await owner.install();
    // The next start.
    await owner.install();
    await owner.boss.createQueue('some');
    await owner.boss.send('some', {}, { id: randomUUID() });

    await using worker = open(addressFor(server.url, roles.worker));
    await worker.join();
    const [job] = await worker.boss.fetch('some');
    await worker.boss.complete('some', job!.id, { isDone: true });
    await expect(worker.boss.send('some', {})).rejects.toThrow(/permission denied/);
    await expect(worker.query(`update ${SCHEMA}.job set data = '{}'`)).rejects.toThrow(/permission denied/);
    await expect(worker.query(`update ${SCHEMA}.shift set epoch = 9`)).rejects.toThrow(/permission denied/);

    await owner.query(`drop schema ${SCHEMA} cascade`);
    await owner.install();
    await expect(worker.query(`select from ${SCHEMA}.job`)).resolves.toMatchObject({ rows: [] });
  },
);

postgresTest('a fleet keeps its passwords if `fleet init` fails', async () => {
  await using server = await startTestPostgres();
  await using superuser = open(server.url);
  const { owner, worker } = await initFleet(superuser);
  await superuser.query(`drop view ${SCHEMA}.demand; create table ${SCHEMA}.demand ()`);
  await expect(initFleet(superuser)).rejects.toThrow('"demand" is not a view');
  for (const role of [owner, worker]) {
    await using database = open(addressFor(server.url, role));
    expect((await database.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  }
});

postgresTest('a second fleet on a server is refused: it would change the passwords of the first', async () => {
  await using server = await startTestPostgres();
  await using first = open(server.url);
  const { owner } = await initFleet(first);
  await server.query('create database second');
  const other = new URL(server.url);
  other.pathname = '/second';
  await using second = open(other.href);
  await expect(initFleet(second)).rejects.toThrow('this server already has a fleet, in the database nightshift');
  await using before = open(addressFor(server.url, owner));
  expect((await before.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  // What the message says makes room for it.
  await server.query('drop owned by nightshift_owner, nightshift_worker cascade');
  await initFleet(second);
});

postgresTest('the owner takes over a schema that another role made', async () => {
  await using server = await startTestPostgres();
  await using superuser = open(server.url);
  await superuser.install();
  const { owner: role } = await initFleet(superuser);
  await using owner = open(addressFor(server.url, role));
  await owner.install();
  await owner.query(`drop schema ${SCHEMA} cascade`);
});

postgresTest(
  'the status says what a worker lacks before any order is sent, and leaves out agents that nobody needs',
  async () => {
    await using server = await startTestPostgres();
    await using database = open(server.url);
    await database.install();
    const needs = JSON.stringify([['agent:claude', 'label:gpu', 'role:dev', 'secret:API_KEY']]);
    await database.query(
      `insert into ${SCHEMA}.shift (key, name, protocol, pid, task_needs) values ('k', 'night', 1, 7, $1)`,
      [needs],
    );
    // Of a shift that has ended; its queue is empty.
    await database.query(`insert into ${SCHEMA}.shift (key, name, protocol) values ('e', 'ended', 1)`);
    await database.query(`insert into ${SCHEMA}.route values ('q', 'e', '{secret:GONE}')`);
    const problems = JSON.stringify([
      { offer: 'agent:claude', why: 'not logged in: run `claude login`' },
      { offer: 'agent:codex', why: 'no program codex' },
    ]);
    await database.query(
      `insert into ${SCHEMA}.worker (id, name, slots, offers, version, protocol, problems)
     values ($1, 'build-1', 8, '{role:dev}', '1', 1, $2)`,
      [randomUUID(), problems],
    );
    const { workers } = await readFleetStatus(database);
    expect([...workers[0]!.problems].sort()).toEqual([
      'agent:claude: not logged in: run `claude login`',
      'lacks label:gpu for shift night: add it to its --labels',
      'lacks secret:API_KEY for shift night: add it to its --env-file or --secrets',
    ]);

    const { rows } = await database.query<{ id: string }>(`select id from ${SCHEMA}.worker`);
    const [{ id }] = rows as [{ id: string }];
    expect((await problemsOfWorker(database, id)).sort()).toEqual([...workers[0]!.problems].sort());
    // One task fits: that it can't do the other is for `fleet status`.
    await database.query(`update ${SCHEMA}.shift set task_needs = task_needs || '[["role:dev"]]' where key = 'k'`);
    expect(await problemsOfWorker(database, id)).toEqual([]);
    expect((await readFleetStatus(database)).workers[0]!.problems).toHaveLength(3);
  },
);

postgresTest('a second `fleet init` says that it replaces passwords', async () => {
  await using server = await startTestPostgres();
  await using admin = open(server.url);
  expect([(await initFleet(admin)).isNew, (await initFleet(admin)).isNew]).toEqual([true, false]);
});
