import type { Emit } from '../../core/model/events.ts';
import type { Queryable } from '../database.ts';
import { isKeyOffer, keyOffer, missingNeeds } from '../needs.ts';
import { PROTOCOL } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';

interface WorkerRow {
  readonly id: string;
  readonly name: string;
  readonly slots: number;
  readonly offers: readonly string[];
  readonly protocol: number;
  readonly mode: 'run' | 'drain' | 'stop';
  /** The ids of the orders that it has, also of other shifts. */
  readonly orders: readonly string[];
  readonly isSilent: boolean;
}

export interface RosterOptions {
  readonly emit: Emit;
  readonly leaseSeconds: number;
  /** The public key of this coordinator. */
  readonly key: string;
  /** Whether this run follows an order. */
  isOwn(order: string): boolean;
}

/** The workers of the fleet, as the coordinator last saw them. */
export class Roster {
  readonly #options: RosterOptions;
  #workers = new Map<string, WorkerRow>();
  /** Those that accept the orders of this coordinator. The others belong to other shifts of the fleet. */
  #reported = new Map<string, WorkerRow>();
  #isCalm = false;

  constructor(options: RosterOptions) {
    this.#options = options;
  }

  /**
   * Reads the workers, and reports who has joined and left. `isCalm`: those without a heartbeat are lost; absent: as
   * before. A worker may still send heartbeats at the rate of a longer lease than this shift's.
   */
  async read(database: Queryable, isCalm = this.#isCalm): Promise<void> {
    this.#isCalm = isCalm;
    const { leaseSeconds } = this.#options;
    const { rows } = await database.query<WorkerRow>(
      `select id, name, slots, offers, protocol, mode, array(select jsonb_array_elements(orders) ->> 'id') as orders,
         abs(extract(epoch from now() - seen)) > greatest(lease_seconds, $1) as "isSilent" from ${SCHEMA}.worker`,
      [leaseSeconds],
    );
    const there = rows.filter((row) => !isCalm || !row.isSilent);
    this.#workers = new Map(there.map((row) => [row.id, row]));
    this.#report(new Set(rows.map(({ id }) => id)));
    if (!isCalm) return;
    // Otherwise every later coordinator would report them as lost again.
    await database.query(
      `delete from ${SCHEMA}.worker where abs(extract(epoch from now() - seen)) > 4 * greatest(lease_seconds, $1)`,
      [leaseSeconds],
    );
  }

  /** `registered`: the ids of all workers, also of silent ones. */
  #report(registered: ReadonlySet<string>): void {
    const { emit, key, isOwn } = this.#options;
    const accepts = ({ protocol, offers }: WorkerRow) => protocol === PROTOCOL && offers.includes(keyOffer(key));
    for (const [id, { name, orders }] of this.#reported) {
      if (this.#workers.has(id)) continue;
      this.#reported.delete(id);
      if (registered.has(id)) emit({ type: 'worker:lost', worker: name, running: orders.filter(isOwn).length });
      else emit({ type: 'worker:left', worker: name });
    }
    for (const row of this.#workers.values()) {
      const { id, name, slots, offers } = row;
      if (!accepts(row)) continue;
      if (!this.#reported.has(id)) emit({ type: 'worker:joined', worker: name, slots, offers: [...offers] });
      this.#reported.set(id, row);
    }
  }

  get size(): number {
    return this.#workers.size;
  }

  /** How many items workers that fit one of these needs can work on at once. */
  slotsFor(alternatives: readonly (readonly string[])[]): number {
    const fitting = this.#ready().filter(({ offers }) => alternatives.some((needs) => fits(needs, offers)));
    return fitting.reduce((sum, { slots }) => sum + slots, 0);
  }

  /** What the closest worker lacks. Undefined: a worker fits. */
  missing(needs: readonly string[]): string[] | undefined {
    const all = this.#ready().map(({ offers }) => missingNeeds(needs, offers));
    if (all.some((each) => each.length === 0)) return undefined;
    // Workers of other coordinators matter only if there are no others.
    const own = all.filter((each) => !each.some(isKeyOffer));
    const lacks = own.length > 0 ? own : all;
    return lacks.sort((a, b) => a.length - b.length || a.join().localeCompare(b.join()))[0] ?? [...needs];
  }

  get isEmpty(): boolean {
    return this.#ready().length === 0;
  }

  #ready(): WorkerRow[] {
    return [...this.#workers.values()].filter(({ mode, protocol }) => mode === 'run' && protocol === PROTOCOL);
  }
}

function fits(needs: readonly string[], offers: readonly string[]): boolean {
  return missingNeeds(needs, offers).length === 0;
}
