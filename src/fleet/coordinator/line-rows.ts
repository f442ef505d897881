import type { Queryable } from '../database.ts';
import { SCHEMA } from '../schema.ts';

/** How much one statement reads: enough to need few of them, and little enough to be answered soon after a backlog. */
const MOST_ROWS = 200;
const MOST_BYTES = 1024 * 1024;
/** No worker sends a larger row. It could not be read in time, and would be tried again forever. */
const LARGEST_ROW = 64 * 1024 * 1024;

/** A batch of lines of one order. `lines`: unchecked; null if the row is too large. */
export interface LineRow {
  readonly order_id: string;
  readonly n: number;
  readonly worker: string;
  readonly lines: unknown;
}

/**
 * The oldest lines of a shift, without those of some orders; none if another coordinator has taken over. Recursive, so
 * that only the chosen rows are measured.
 */
export async function readRows(
  database: Queryable,
  { shift, epoch }: { readonly shift: string; readonly epoch: number },
  without: readonly string[],
): Promise<{ rows: LineRow[]; hasMore: boolean }> {
  const next = (after: string) =>
    `select seq, order_id, n, worker, lines, octet_length(lines::text)::bigint as bytes from ${SCHEMA}.line
     where shift = $1 and order_id <> all($2::uuid[]) and seq > ${after}
       and exists (select from ${SCHEMA}.shift as own where own.key = $1 and own.epoch = $3) order by seq limit 1`;
  const { rows } = await database.query<LineRow & { total: string }>(
    `with recursive chosen as (
       select first.*, bytes as total, 1 as count from (${next('0')}) as first
       union all
       select next.*, total + next.bytes, count + 1 from chosen, lateral (${next('chosen.seq')}) as next
       where total < ${MOST_BYTES} and count < ${MOST_ROWS})
     select order_id, n, worker, total, case when bytes <= ${LARGEST_ROW} then lines end as lines
     from chosen order by seq`,
    [shift, without, epoch],
  );
  return { rows, hasMore: rows.length === MOST_ROWS || Number(rows.at(-1)?.total ?? 0) >= MOST_BYTES };
}

export async function removeRows(database: Queryable, rows: readonly LineRow[]): Promise<void> {
  await database.query(
    `delete from ${SCHEMA}.line where (order_id, worker, n) in (select * from unnest($1::uuid[], $2::text[], $3::int[]))`,
    [rows.map(({ order_id }) => order_id), rows.map(({ worker }) => worker), rows.map(({ n }) => n)],
  );
}
