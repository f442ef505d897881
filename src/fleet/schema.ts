import type { Queryable } from './database.ts';

/** Holds the tables of pg-boss, too. Dropping it loses work in flight, and never a recorded status. */
export const SCHEMA = 'nightshift';

/**
 * `epoch`: the number of the run; an older coordinator can't write any more. `ticked`: its last heartbeat.
 * `mode`: what `fleet stop` asks for. `is_paused`: for `fleet status`. `is_draining`, `spent`: what the run tells its
 * workers (decision 13).
 * `task_needs`: what its tasks need of a worker, also before the first order is sent.
 * A worker's `lease_seconds`: without a heartbeat for that long, it is lost.
 * A bundle has files of the shift's folder that its orders name by their hash. It is in pieces, because one statement
 * must not delay heartbeats on the same connection.
 * A route is a pg-boss queue and what its orders need. A row of `line` is a batch of lines of one order.
 */
const TABLES = `
create table if not exists ${SCHEMA}.shift (
  key text primary key,
  name text not null,
  epoch bigint not null default 0,
  protocol int not null,
  host text not null default '',
  pid int not null default 0,
  ticked timestamptz not null default now(),
  lease_seconds int not null default 90,
  wanted int not null default 0,
  task_needs jsonb not null default '[]',
  mode text not null default 'run',
  is_paused boolean not null default false,
  is_draining boolean not null default false,
  spent text
);
create table if not exists ${SCHEMA}.pulse (
  lease_seconds int primary key,
  at timestamptz not null default now(),
  grace_until timestamptz not null default now()
);
create table if not exists ${SCHEMA}.route (
  queue text primary key,
  shift text not null references ${SCHEMA}.shift (key) on delete cascade,
  needs text[] not null
);
create table if not exists ${SCHEMA}.bundle (
  shift text not null references ${SCHEMA}.shift (key) on delete cascade,
  hash text not null,
  piece int not null,
  bytes bytea not null,
  primary key (shift, hash, piece)
);
create table if not exists ${SCHEMA}.worker (
  id uuid primary key,
  name text not null,
  slots int not null,
  offers text[] not null,
  version text not null,
  protocol int not null,
  seen timestamptz not null default now(),
  lease_seconds int not null default 90,
  mode text not null default 'run',
  orders jsonb not null default '[]' check (jsonb_typeof(orders) = 'array'),
  problems jsonb not null default '[]' check (jsonb_typeof(problems) = 'array')
);
create table if not exists ${SCHEMA}.line (
  order_id uuid not null,
  n int not null,
  shift text not null,
  worker text not null,
  seq bigint generated always as identity,
  lines jsonb not null,
  primary key (order_id, worker, n)
);
create index if not exists line_shift on ${SCHEMA}.line (shift, seq);
create or replace view ${SCHEMA}.demand as
  select key, name, wanted from ${SCHEMA}.shift where mode = 'run' and ticked > now() - interval '1 hour';
`;

/** The roles that `fleet init` creates: of coordinators, and of workers. */
export const OWNER = 'nightshift_owner';
export const WORKER = 'nightshift_worker';

/**
 * Everything belongs to the role of coordinators, so that each of them can change it, whoever created it. A schema that
 * was created again has no rights of workers. A role that does not exist, or may not be used, is left out.
 */
const RIGHTS = `
do $$
declare
  each record;
begin
  if not (select pg_has_role(nspowner, 'usage') from pg_namespace where nspname = '${SCHEMA}') then
    return;
  end if;
  if exists (select from pg_roles where rolname = '${OWNER}') and pg_has_role('${OWNER}', 'member') then
    if (select nspowner::regrole::text from pg_namespace where nspname = '${SCHEMA}') <> '${OWNER}' then
      execute format('grant create, connect on database %I to ${OWNER}', current_database());
      alter schema ${SCHEMA} owner to ${OWNER};
    end if;
    for each in
      select format('table %s', oid::regclass) as what from pg_class where relkind in ('r', 'p', 'v')
        and relnamespace = '${SCHEMA}'::regnamespace and relowner <> '${OWNER}'::regrole
      union all select format('function %s', oid::regprocedure) from pg_proc
        where pronamespace = '${SCHEMA}'::regnamespace and proowner <> '${OWNER}'::regrole
      union all select format('type %s', oid::regtype) from pg_type where typtype = 'e'
        and typnamespace = '${SCHEMA}'::regnamespace and typowner <> '${OWNER}'::regrole
    loop
      execute format('alter %s owner to ${OWNER}', each.what);
    end loop;
  end if;
  if exists (select from pg_roles where rolname = '${WORKER}') then
    ${workerGrants(WORKER)}
  end if;
end $$;
`;

/** Several coordinators may start at once: one creates, the others wait. */
export async function createTables(database: Queryable): Promise<void> {
  await database.query(`begin; select pg_advisory_xact_lock(7309453); ${TABLES} ${RIGHTS} commit;`);
}

/** For roles that were created after the schema. */
export async function setRights(database: Queryable): Promise<void> {
  await database.query(RIGHTS);
}

/**
 * What the role of a worker may do. It can read every order and finish any: pg-boss has no narrower rights. It can't
 * add or change orders, and a forged one has no signature.
 */
function workerGrants(role: string): string {
  return `
grant usage on schema ${SCHEMA} to ${role};
grant select on all tables in schema ${SCHEMA} to ${role};
grant update (state, started_on, completed_on, heartbeat_on, retry_count, output, blocked, pending_dependencies)
  on ${SCHEMA}.job, ${SCHEMA}.job_common to ${role};
grant insert, update, delete on ${SCHEMA}.worker to ${role};
grant insert on ${SCHEMA}.line to ${role};
grant update on ${SCHEMA}.pulse to ${role};
`;
}
