import { randomBytes } from 'node:crypto';
import { NightshiftError } from '../core/model/errors.ts';
import type { FleetStatus } from '../core/model/fleet-status.ts';
import type { FleetDatabase, Queryable } from './database.ts';
import { missingNeeds, type OfferProblem } from './needs.ts';
import { OWNER, SCHEMA, setRights, WORKER } from './schema.ts';

export interface Roles {
  readonly owner: { readonly name: string; readonly password: string };
  readonly worker: { readonly name: string; readonly password: string };
}

export interface InitialisedFleet extends Roles {
  /** Otherwise, these passwords replace earlier ones. */
  readonly isNew: boolean;
}

/**
 * Creates the schema and its two roles; roles that exist get a new password. That comes last, and for both at once: if
 * anything fails, a fleet that is running keeps its passwords.
 */
export async function initFleet(database: FleetDatabase): Promise<InitialisedFleet> {
  const owner = { name: OWNER, password: newPassword() };
  const worker = { name: WORKER, password: newPassword() };
  await refuseSecondFleet(database);
  const isOwnerNew = await createRole(database, OWNER);
  const isWorkerNew = await createRole(database, WORKER);
  // Without superuser rights, you can give ownership only to a role that you are a member of.
  await database.query(`grant ${OWNER} to current_user`);
  await database.install();
  await database.query(`begin; ${setPassword(owner)}; ${setPassword(worker)}; commit`);
  return { owner, worker, isNew: isOwnerNew && isWorkerNew };
}

/** Creates only the worker role, for `--fleet try`: there, the coordinator connects as the superuser. */
export async function grantWorker(database: Queryable, password: string): Promise<{ name: string; password: string }> {
  const worker = { name: WORKER, password };
  await createRole(database, WORKER);
  await database.query(setPassword(worker));
  await setRights(database);
  return worker;
}

/** Roles belong to the whole server: new passwords would lock the other fleet out, and open each to the other. */
async function refuseSecondFleet(database: Queryable): Promise<void> {
  const { rows } = await database.query<{ datname: string }>(
    `select distinct datname from pg_shdepend join pg_database on pg_database.oid = dbid
     where refclassid = 'pg_authid'::regclass and datname <> current_database()
       and refobjid in (select oid from pg_roles where rolname in ('${OWNER}', '${WORKER}'))`,
  );
  const [other] = rows;
  if (!other) return;
  throw new NightshiftError(
    'usage',
    `this server already has a fleet, in the database ${other.datname}`,
    'several shifts and coordinators can share it. For another fleet, use another server. To move the fleet here, first ' +
      `run \`drop owned by ${OWNER}, ${WORKER} cascade\` in that database`,
  );
}

/** Without a password, nobody can log in with it. Returns whether it is new. */
async function createRole(database: Queryable, name: string): Promise<boolean> {
  const { rows } = await database.query('select 1 from pg_roles where rolname = $1', [name]);
  if (rows.length === 0) await database.query(`create role ${name} login`);
  return rows.length === 0;
}

/** Passwords are made here, and have no quotes. */
function setPassword({ name, password }: { name: string; password: string }): string {
  return `alter role ${name} login password '${password}'`;
}

function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

export function addressFor(url: string, { name, password }: { name: string; password: string }): string {
  const address = new URL(url);
  address.username = name;
  address.password = password;
  return address.href;
}

interface ShiftRow {
  readonly key: string;
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly age: number;
  readonly mode: FleetStatus['shifts'][number]['mode'];
  readonly is_paused: boolean;
  readonly wanted: number;
  readonly protocol: number;
  readonly waiting: number;
  readonly running: number;
  readonly ended: number;
}

interface WorkerRow {
  readonly name: string;
  readonly slots: number;
  readonly offers: string[];
  readonly version: string;
  readonly protocol: number;
  readonly age: number;
  readonly isSilent: boolean;
  readonly mode: FleetStatus['workers'][number]['mode'];
  readonly orders: FleetStatus['workers'][number]['items'];
  readonly problems: OfferProblem[];
}

/** Reads only the database, so it works without a coordinator. */
export async function readFleetStatus(database: Queryable): Promise<FleetStatus> {
  const shifts = await database.query<ShiftRow>(
    `select key, shift.name, host, pid, extract(epoch from now() - ticked)::int as age, mode, is_paused, wanted,
       protocol,
       (select count(*)::int from ${SCHEMA}.job join ${SCHEMA}.route on route.queue = job.name
        where route.shift = key and job.state = 'created') as waiting,
       (select count(*)::int from ${SCHEMA}.job join ${SCHEMA}.route on route.queue = job.name
        where route.shift = key and job.state = 'active') as running,
       (select count(*)::int from ${SCHEMA}.job join ${SCHEMA}.route on route.queue = job.name
        where route.shift = key and job.state = 'completed') as ended
     from ${SCHEMA}.shift order by shift.name`,
  );
  // The row of a shift that has ended stays, because it holds the epoch. Don't show it.
  const live = shifts.rows.filter(({ pid, waiting, running, ended }) => pid !== 0 || waiting + running + ended > 0);
  const workers = await database.query<WorkerRow>(
    `select name, slots, offers, version, protocol, extract(epoch from now() - seen)::int as age, mode, orders, problems,
       extract(epoch from now() - seen) > greatest(30, lease_seconds / 3.0) as "isSilent"
     from ${SCHEMA}.worker order by name`,
  );
  const needs = await openNeeds(database);
  return {
    shifts: live.map(({ name, host, pid, age, mode, is_paused: isPaused, wanted, waiting, running, ended }) => ({
      ...{ name, mode, isPaused, wanted, orders: { waiting, running, ended } },
      coordinator: pid === 0 ? undefined : { host, pid, seenSecondsAgo: age },
    })),
    workers: workers.rows.map((worker) => ({
      ...{ name: worker.name, slots: worker.slots, mode: worker.mode, version: worker.version, offers: worker.offers },
      running: worker.orders.length,
      seenSecondsAgo: worker.age,
      isSilent: worker.isSilent,
      problems: [...otherProtocol(worker, live), ...problemsOf(worker, needs)],
      items: worker.orders,
    })),
  };
}

/** Why a worker gets no order at all. None if it fits some, or if there are none. */
export async function problemsOfWorker(database: Queryable, id: string): Promise<string[]> {
  const { rows } = await database.query<Pick<WorkerRow, 'offers' | 'problems'>>(
    `select offers, problems from ${SCHEMA}.worker where id = $1`,
    [id],
  );
  const needs = await openNeeds(database);
  const fits = ({ offers }: Pick<WorkerRow, 'offers'>) =>
    needs.some((each) => missingNeeds(each.needs, offers).length === 0);
  return rows.flatMap((worker) => (fits(worker) ? [] : problemsOf(worker, needs)));
}

/** What orders need that wait, and tasks of running shifts that have something to do. */
async function openNeeds(database: Queryable): Promise<NeedsRow[]> {
  const { rows } = await database.query<{ shift: string; needs: string[] }>(
    `select shift.name as shift, to_jsonb(route.needs) as needs from ${SCHEMA}.route
     join ${SCHEMA}.shift on key = route.shift
     where exists (select from ${SCHEMA}.job where job.name = route.queue and job.state = 'created')
     union select shift.name, each from ${SCHEMA}.shift, jsonb_array_elements(task_needs) as each where pid <> 0`,
  );
  return rows;
}

function otherProtocol({ protocol }: WorkerRow, shifts: readonly ShiftRow[]): string[] {
  const others = shifts.filter((shift) => shift.protocol !== protocol);
  return others.map(({ name, protocol: theirs }) => {
    const what = theirs > protocol ? 'upgrade this worker' : 'upgrade the coordinator';
    return `protocol ${protocol}, but shift ${name} has ${theirs}: ${what}`;
  });
}

interface NeedsRow {
  readonly shift: string;
  readonly needs: readonly string[];
}

/**
 * Why it can't take orders that exist or will. A missing agent is a problem only if a task needs it. Roles are its
 * operator's choice.
 */
function problemsOf({ offers, problems }: Pick<WorkerRow, 'offers' | 'problems'>, open: readonly NeedsRow[]): string[] {
  const suited = open.filter(({ needs }) => !missingNeeds(needs, offers).some((need) => need.startsWith('role:')));
  const told = suited.flatMap(({ shift, needs }) =>
    missingNeeds(needs, offers).flatMap((need) => {
      const known = problems.filter(({ offer }) => offer === need).map(({ offer, why }) => `${offer}: ${why}`);
      return known.length > 0 ? known : [`lacks ${need} for shift ${shift}${hintFor(need)}`];
    }),
  );
  return [...new Set(told)];
}

function hintFor(need: string): string {
  if (need.startsWith('secret:')) return ': add it to its --env-file or --secrets';
  if (need.startsWith('key:')) return ': start it with the --key that the coordinator prints';
  if (need.startsWith('time:')) return ': its --for ends before the timeout of the task';
  if (need.startsWith('label:')) return ': add it to its --labels';
  if (need.startsWith('volume:'))
    return ': start it with --root DIR, the project of this shift on a volume that all machines mount';
  return need === 'sandbox' ? ': install bubblewrap on it' : '';
}

/**
 * Workers with this name take nothing new, finish what they have, and end. Returns how many there are, also those that
 * were draining already.
 */
export async function drainWorkers(database: FleetDatabase, name: string): Promise<number> {
  const { rows } = await database.query(
    `update ${SCHEMA}.worker set mode = case mode when 'run' then 'drain' else mode end where name = $1 returning id`,
    [name],
  );
  await database.notify('changed', '');
  return rows.length;
}

/** What `fleet stop` has told to end: the names of shifts that have a coordinator, and the number of workers. */
export interface StoppedFleet {
  readonly shifts: readonly string[];
  readonly workers: number;
}

/** No order is taken any more; running ones finish, and then the coordinators end. */
export async function stopFleet(database: FleetDatabase): Promise<StoppedFleet> {
  const { rows } = await database.query<{ name: string }>(
    `update ${SCHEMA}.shift set mode = 'stop' where mode = 'run' and pid <> 0 returning name`,
  );
  const workers = await database.query(`update ${SCHEMA}.worker set mode = 'stop' returning id`);
  await database.notify('changed', '');
  return { shifts: rows.map(({ name }) => name).sort(), workers: workers.rows.length };
}
