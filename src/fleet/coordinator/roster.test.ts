import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { describeServer } from '../../../test/kit/postgres.ts';
import type { Emit } from '../../core/model/events.ts';
import { FleetDatabase } from '../database.ts';
import { keyOffer } from '../needs.ts';
import { PROTOCOL } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';
import { newSigningKey, signerFrom } from '../signature.ts';
import { Roster } from './roster.ts';

const LEASE = 10;
const KEY = signerFrom(newSigningKey()).publicKey;

describeServer('the workers that a coordinator sees', (server) => {
  beforeEach(async () => {
    await using database = open();
    await database.install();
    await database.query(`delete from ${SCHEMA}.worker`);
  });

  const open = () => new FleetDatabase({ url: server.url, isInsecure: false });

  interface Joining {
    readonly secondsAgo?: number;
    readonly leaseSeconds?: number;
    readonly offers?: readonly string[];
    readonly protocol?: number;
    readonly orders?: readonly string[];
  }

  async function join(name: string, joining: Joining = {}): Promise<void> {
    const { secondsAgo = 0, leaseSeconds = LEASE, offers = [keyOffer(KEY)], protocol = PROTOCOL } = joining;
    const orders = JSON.stringify((joining.orders ?? []).map((id) => ({ id })));
    await server.query(
      `insert into ${SCHEMA}.worker (id, name, slots, offers, version, protocol, lease_seconds, orders, seen)
       values ($1, $2, 4, $3, '1', $4, $5, $6, now() - make_interval(secs => $7))`,
      [randomUUID(), name, offers, protocol, leaseSeconds, orders, secondsAgo],
    );
  }

  const names = async () =>
    (await server.query<{ name: string }>(`select name from ${SCHEMA}.worker order by name`)).map(({ name }) => name);

  test('one that is silent is lost only when no grace lasts, and then forgotten', async () => {
    await using database = open();
    const told: string[] = [];
    const emit: Emit = (event) => void ('worker' in event && told.push(`${event.type} ${event.worker}`));
    const roster = new Roster({ emit, leaseSeconds: LEASE, key: KEY, isOwn: () => true });
    await join('alive', { secondsAgo: 5 });
    // It is registered for a longer lease, which is not over.
    await join('patient', { secondsAgo: 1.5 * LEASE, leaseSeconds: 90 });
    await join('silent', { secondsAgo: 1.5 * LEASE });
    await join('ahead', { secondsAgo: -2 * LEASE });
    await join('vanished', { secondsAgo: 5 * LEASE });

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

  test('a run reports only workers that accept its orders, and counts only its own orders', async () => {
    await using database = open();
    const told: unknown[] = [];
    const isOwn = (order: string) => order === 'own';
    const roster = new Roster({ emit: (event) => void told.push(event), leaseSeconds: LEASE, key: KEY, isOwn });
    await join('ours', { orders: ['own', 'of another shift'] });
    await join('of another key', { offers: ['key:other'] });
    await join('newer', { protocol: PROTOCOL + 1 });
    await roster.read(database, true);
    expect(told.splice(0)).toMatchObject([{ type: 'worker:joined', worker: 'ours', slots: 4 }]);

    await server.query(`update ${SCHEMA}.worker set seen = now() - make_interval(secs => $1)`, [2 * LEASE]);
    await roster.read(database, true);
    expect(told).toEqual([{ type: 'worker:lost', worker: 'ours', running: 1 }]);
  });

  test('a worker can’t write what coordinators could not read', async () => {
    await join('w');
    for (const column of ['orders', 'problems']) {
      for (const value of ['{}', '"text"', 'null', '1']) {
        const write = server.query(`update ${SCHEMA}.worker set ${column} = $1`, [value]);
        await expect(write, `${column} = ${value}`).rejects.toThrow('violates check constraint');
      }
    }
  });
});
