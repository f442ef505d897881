import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { describeServer } from '../../../test/kit/postgres.ts';
import type { Emit } from '../../core/model/events.ts';
import { FleetDatabase } from '../database.ts';
import { SCHEMA } from '../schema.ts';
import { Roster } from './roster.ts';

const LEASE = 10;

describeServer('the workers that a coordinator sees', (server) => {
  beforeEach(async () => {
    await using database = open();
    await database.install();
    await database.query(`delete from ${SCHEMA}.worker`);
  });

  const open = () => new FleetDatabase({ url: server.url, isInsecure: false });

  /** A worker that was seen this many seconds ago. */
  async function join(name: string, secondsAgo: number, leaseSeconds = LEASE): Promise<void> {
    await server.query(
      `insert into ${SCHEMA}.worker (id, name, slots, offers, version, protocol, lease_seconds, seen)
       values ($1, $2, 4, '{}', '1', 1, $3, now() - make_interval(secs => $4))`,
      [randomUUID(), name, leaseSeconds, secondsAgo],
    );
  }

  const names = async () =>
    (await server.query<{ name: string }>(`select name from ${SCHEMA}.worker order by name`)).map(({ name }) => name);

  test('one that is silent is lost only when no grace lasts, and then forgotten', async () => {
    await using database = open();
    const told: string[] = [];
    const emit: Emit = (event) => void ('worker' in event && told.push(`${event.type} ${event.worker}`));
    const roster = new Roster(emit, LEASE);
    await join('alive', 5);
    // It is registered for a longer lease, which is not over.
    await join('patient', 1.5 * LEASE, 90);
    await join('silent', 1.5 * LEASE);
    await join('ahead', -2 * LEASE);
    await join('vanished', 5 * LEASE);

    for (const grace of [false, undefined]) await roster.read(database, grace);
    expect(told.splice(0).sort()).toEqual(
      ['ahead', 'alive', 'patient', 'silent', 'vanished'].map((name) => `worker:joined ${name}`),
    );
    expect(await names()).toContain('vanished');

    await roster.read(database, true);
    expect(told.splice(0).sort()).toEqual(['ahead', 'silent', 'vanished'].map((name) => `worker:lost ${name}`));
    expect([roster.size, await names()]).toEqual([2, ['ahead', 'alive', 'patient', 'silent']]);

    await server.query(`delete from ${SCHEMA}.worker where name = 'alive'`);
    await roster.read(database);
    expect(told).toEqual(['worker:left alive']);
  });

  test('a worker can’t write what coordinators could not read', async () => {
    await join('w', 0);
    for (const column of ['orders', 'problems']) {
      for (const value of ['{}', '"text"', 'null', '1']) {
        const write = server.query(`update ${SCHEMA}.worker set ${column} = $1`, [value]);
        await expect(write, `${column} = ${value}`).rejects.toThrow('violates check constraint');
      }
    }
  });
});
