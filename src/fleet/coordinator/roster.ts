import type { Emit } from '../../core/model/events.ts';
import type { Queryable } from '../database.ts';
import { isKeyOffer, missingNeeds } from '../needs.ts';
import { PROTOCOL } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';

interface WorkerRow {
  readonly id: string;
  readonly name: string;
  readonly slots: number;
  readonly offers: readonly string[];
  readonly protocol: number;
  readonly mode: 'run' | 'drain' | 'stop';
  readonly running: number;
  readonly isSilent: boolean;
}

/** The workers of the fleet, as the coordinator last saw them. */
export class Roster {
  readonly #emit: Emit;
  readonly #leaseSeconds: number;
  #workers = new Map<string, WorkerRow>();
  #isCalm = false;

  constructor(emit: Emit, leaseSeconds: number) {
    this.#emit = emit;
    this.#leaseSeconds = leaseSeconds;
  }

  /**
   * Reads the workers, and reports who has joined and left. `isCalm`: those without a heartbeat are lost; absent: as
   * before. A worker may still send heartbeats at the rate of a longer lease than this shift's.
   */
  async read(database: Queryable, isCalm = this.#isCalm): Promise<void> {
    this.#isCalm = isCalm;
    const { rows } = await database.query<WorkerRow>(
      `select id, name, slots, offers, protocol, mode, jsonb_array_length(orders) as running,
         abs(extract(epoch from now() - seen)) > greatest(lease_seconds, $1) as "isSilent" from ${SCHEMA}.worker`,
      [this.#leaseSeconds],
    );
    const there = new Map(rows.filter((row) => !isCalm || !row.isSilent).map((row) => [row.id, row]));
    for (const [id, { name, running }] of this.#workers) {
      if (there.has(id)) continue;
      const isLost = rows.some((row) => row.id === id);
      this.#emit(isLost ? { type: 'worker:lost', worker: name, running } : { type: 'worker:left', worker: name });
    }
    for (const [id, { name, slots, offers }] of there) {
      if (!this.#workers.has(id)) this.#emit({ type: 'worker:joined', worker: name, slots, offers: [...offers] });
    }
    this.#workers = there;
    if (!isCalm) return;
    // Otherwise every later coordinator would report them as lost again.
    await database.query(
      `delete from ${SCHEMA}.worker where abs(extract(epoch from now() - seen)) > 4 * greatest(lease_seconds, $1)`,
      [this.#leaseSeconds],
    );
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
