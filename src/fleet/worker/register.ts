import type { FleetDatabase, Queryable } from '../database.ts';
import type { OfferProblem } from '../needs.ts';
import { PROTOCOL } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';
import { storable } from '../storable.ts';
import type { described } from './order-text.ts';

interface Registration {
  readonly id: string;
  readonly name: string;
  readonly slots: number;
  readonly version: string;
  readonly offers: readonly string[];
  readonly problems: readonly OfferProblem[];
  readonly orders: readonly ReturnType<typeof described>[];
  readonly mode: 'run' | 'drain';
  /** Without another heartbeat for that long, it is lost. */
  readonly leaseSeconds: number;
}

/** The heartbeat of a worker, with all that coordinators see of it. Returns the mode that was asked for. */
export async function register(database: Queryable, worker: Registration): Promise<string> {
  const { id, name, slots, version, offers, problems, orders, mode, leaseSeconds } = worker;
  const { rows } = await database.query<{ mode: string }>(
    `insert into ${SCHEMA}.worker (id, name, slots, offers, version, protocol, orders, problems, mode, lease_seconds)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (id) do update set seen = now(), slots = excluded.slots, offers = excluded.offers,
       orders = excluded.orders, problems = excluded.problems, lease_seconds = excluded.lease_seconds,
       mode = case when excluded.mode = 'drain' and worker.mode = 'run' then 'drain' else worker.mode end
     returning mode`,
    [id, name, slots, offers, version, PROTOCOL, json(orders), json(problems), mode, leaseSeconds],
  );
  return rows[0]?.mode ?? 'run';
}

/** Best effort: without it, the worker is lost after a lease. */
export async function signOff(database: FleetDatabase, id: string): Promise<void> {
  await database.query(`delete from ${SCHEMA}.worker where id = $1`, [id]).catch(() => {});
  await database.notify('changed', '').catch(() => {});
}

/** A program that did not start may have printed what PostgreSQL can't store. */
function json(value: unknown): string {
  return JSON.stringify(storable(value));
}

/** Whether another worker with this name has sent heartbeats lately. It may be one that was killed. */
export async function isNameTaken(database: Queryable, { id, name }: { id: string; name: string }): Promise<boolean> {
  const { rows } = await database.query(
    `select from ${SCHEMA}.worker where name = $1 and id <> $2
     and seen > now() - make_interval(secs => lease_seconds / 3.0) limit 1`,
    [name, id],
  );
  return rows.length > 0;
}
