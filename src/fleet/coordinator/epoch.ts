import { NightshiftError } from '../../core/model/errors.ts';
import type { FleetDatabase, Queryable } from '../database.ts';
import { isLocked } from '../failure.ts';
import { PROTOCOL } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';

/** How long a start waits for the shift's row. */
const LOCKED_MS = 30_000;

export interface ShiftOfFleet {
  readonly key: string;
  readonly name: string;
  readonly host: string;
}

/** What a coordinator reports with a heartbeat. */
interface Tick {
  /** How many items could run now. */
  readonly wanted: number;
  /** What their tasks need. */
  readonly needs: readonly (readonly string[])[];
  readonly isPaused: boolean;
}

/**
 * The number of this run among all that coordinated the shift. A coordinator with an older one writes nothing: two
 * copies of a folder must not send the same items.
 */
export class Epoch {
  readonly #shift: ShiftOfFleet;
  readonly #leaseSeconds: number;
  #number = 0;

  constructor(shift: ShiftOfFleet, leaseSeconds: number) {
    this.#shift = shift;
    this.#leaseSeconds = leaseSeconds;
  }

  get number(): number {
    return this.#number;
  }

  /** Fences off the previous coordinator. It waits its turn among the writes, so that none sees it half done. */
  async begin(database: FleetDatabase): Promise<void> {
    for (const since = performance.now(); ; ) {
      try {
        await database.transaction((own) => this.#begin(own, "mode = 'run', is_draining = false, spent = null"));
        return;
      } catch (error) {
        // A coordinator whose machine has vanished may hold the lock. The server soon ends its session.
        if (!isLocked(error) || performance.now() - since > LOCKED_MS) throw error;
      }
    }
  }

  /** For a database that has forgotten this run: what its workers were told stays. */
  beginAgain(database: FleetDatabase): Promise<void> {
    return database.transaction((own) => this.#begin(own, 'mode = shift.mode'));
  }

  async #begin(transaction: Queryable, signals: string): Promise<void> {
    // Must survive a crash of the server: otherwise an older coordinator could write again.
    await transaction.query('set local synchronous_commit = on');
    const { key, name, host } = this.#shift;
    const { rows } = await transaction.query<{ epoch: string }>(
      `insert into ${SCHEMA}.shift (key, name, epoch, protocol, host, pid, lease_seconds)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (key) do update set epoch = greatest(shift.epoch + 1, excluded.epoch), name = excluded.name,
         protocol = excluded.protocol, host = excluded.host, pid = excluded.pid, ticked = now(),
         lease_seconds = excluded.lease_seconds, ${signals}
       returning epoch`,
      [key, name, this.#number + 1, PROTOCOL, host, process.pid, this.#leaseSeconds],
    );
    this.#number = Number(rows[0]!.epoch);
  }

  /** The heartbeat of the coordinator. Returns the mode that was asked for. */
  tick(database: FleetDatabase, { wanted, needs, isPaused }: Tick): Promise<string> {
    return this.write(database, async (own) => {
      const { rows } = await own.query<{ mode: string }>(
        `update ${SCHEMA}.shift set ticked = now(), wanted = $2, task_needs = $3, is_paused = $4 where key = $1
         returning mode`,
        [this.#shift.key, wanted, JSON.stringify(needs), isPaused],
      );
      return rows[0]?.mode ?? 'run';
    });
  }

  /** Signs off. If orders stay with workers, the demand stays too, so that autoscalers keep the machines. */
  async end(database: Queryable, hasLeft: boolean): Promise<void> {
    const change = hasLeft ? 'is_draining = false' : 'wanted = 0, is_paused = false';
    await database.query(`update ${SCHEMA}.shift set ${change}, pid = 0, host = '' where key = $1 and epoch = $2`, [
      this.#shift.key,
      this.#number,
    ]);
  }

  /** Throws if another coordinator has taken over. Holds until the end of the transaction. */
  async confirm(transaction: Queryable): Promise<void> {
    const { rows } = await transaction.query<{ epoch: string; host: string; pid: number }>(
      `select epoch, host, pid from ${SCHEMA}.shift where key = $1 for share`,
      [this.#shift.key],
    );
    const [row] = rows;
    if (row && Number(row.epoch) === this.#number) return;
    if (row && Number(row.epoch) > this.#number) throw replacedBy(row);
    // The database has forgotten this run: it was dropped, or a standby that was behind took over.
    throw new ForgottenEpoch();
  }

  /** Runs statements only while no other coordinator has taken over. */
  write<T>(database: FleetDatabase, use: Parameters<typeof database.transaction<T>>[0]): Promise<T> {
    return database.transaction(async (own, db) => {
      await this.confirm(own);
      return use(own, db);
    });
  }
}

/** The schema has to be made, and the epoch begun, again. */
class ForgottenEpoch extends Error {
  /** The SQLSTATE of a missing table: `isSchemaMissing` recognizes it, and the database is repaired. */
  readonly code = '42P01';

  constructor() {
    super('the database does not know this run');
  }
}

function replacedBy({ host, pid }: { host: string; pid: number }): NightshiftError {
  return new NightshiftError(
    'already-running',
    `another coordinator has taken over this shift: process ${pid} on ${host}`,
    'run the shift from one folder only; this run has written nothing since',
  );
}
