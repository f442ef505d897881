import type { Shift, Task } from '../../core/model/shift.ts';
import { adaptLimit, type Limit, noteInFlight, type SizeSettings, startLimit } from '../../core/schedule/dispatch.ts';
import { chooseNext } from '../../core/schedule/next.ts';
import type { Selection } from '../../core/schedule/plan.ts';
import type { Snapshot } from '../../store/store.ts';
import type { RunParts } from '../ports.ts';
import { deferredRows, rowsOf } from './batch-turn.ts';
import { type Airspace, claimRows, type Flight, type FlightEnd, flyThrough, openAirspace } from './lease.ts';

interface InFlight {
  readonly flight: Flight;
  readonly epoch: number;
  /** Resolves when it has ended, however. */
  readonly landing: Promise<void>;
}

/**
 * Rule X7: a free slot is refilled at once, under a limit that adapts. An item keeps its slot from its dev to its qa, so
 * that qa runs beside other devs and the limit holds for both.
 */
export class Stream implements AsyncDisposable {
  readonly #parts: RunParts;
  readonly #airspace: Airspace;
  readonly #inFlight = new Map<string, InFlight>();
  readonly #landed: FlightEnd[] = [];
  readonly #versions = new Set<string>();
  #limit: Limit;
  #maxSize: number | undefined;

  constructor(parts: RunParts, shift: Shift) {
    this.#parts = parts;
    this.#limit = startLimit(shift.settings);
    this.#maxSize = shift.settings.maxBatchSize;
    this.#airspace = openAirspace(parts);
  }

  get size(): number {
    return this.#inFlight.size;
  }

  get limit(): number {
    return this.#limit.size;
  }

  get hasRoom(): boolean {
    return this.#inFlight.size < this.#limit.size;
  }

  /** A person set another limit in the manifest: it is taken as it is (rule P4). */
  setLimit(settings: SizeSettings): void {
    this.#maxSize = settings.maxBatchSize;
    const next = startLimit(settings, this.#limit.epoch);
    if (next.size === this.#limit.size) return;
    this.#parts.emit({ type: 'limit:changed', from: this.#limit.size, to: next.size, reason: 'set by a person' });
    this.#limit = next;
  }

  /** What others did to the files since the last look, settled before anything new is claimed. */
  async look(): Promise<void> {
    await this.#airspace.watch.look();
    this.#airspace.failure.signal.throwIfAborted();
  }

  /** Claims as much as there is room for: what waits for its qa first, then tasks in order, rows in order. */
  async fill(shift: Shift, first: Snapshot, select: (snapshot: Snapshot) => Selection): Promise<void> {
    for (let snapshot = first; this.hasRoom; snapshot = await this.#parts.store.snapshot()) {
      const next = chooseNext({
        board: snapshot,
        selection: select(snapshot),
        mode: 'stream',
        room: this.#limit.size - this.#inFlight.size,
        deferred: deferredRows(this.#parts, snapshot),
        running: this.#runningRows(snapshot),
      });
      if (!next || this.#parts.stop.isHalted) break;
      const task = shift.tasks.find(({ name }) => name === next.task)!;
      await this.#keepVersion(task);
      const flights = await claimRows(this.#parts, shift, task, snapshot, next.rows);
      if (flights.length === 0) break;
      const indices = flights.filter(({ claim }) => claim.status !== 'qa').map(({ claim }) => claim.row);
      if (indices.length > 0) {
        this.#parts.emit({ type: 'batch:claimed', task: task.name, indices, size: this.#limit.size });
      }
      for (const flight of flights) this.#takeOff(flight);
    }
    this.#limit = noteInFlight(this.#limit, this.#inFlight.size);
  }

  /** Waits for an item to end, at most so long; all that have ended by then, so that their slots are refilled together. */
  async next(milliseconds?: number): Promise<FlightEnd[]> {
    const landings = [...this.#inFlight.values()].map(({ landing }) => landing);
    const landed = new AbortController();
    const over = milliseconds === undefined ? [] : [this.#parts.clock.sleep(milliseconds, landed.signal)];
    await Promise.race([...landings, ...over]);
    landed.abort();
    this.#airspace.failure.signal.throwIfAborted();
    const ends = this.#landed.splice(0);
    for (const end of ends) this.#land(end);
    return ends;
  }

  #takeOff(flight: Flight): void {
    const landing = this.#fly(flight).then(
      (end) => void this.#landed.push(end),
      (error: unknown) => this.#airspace.failure.abort(error),
    );
    this.#inFlight.set(flight.claim.token, { flight, epoch: this.#limit.epoch, landing });
  }

  async #fly(flight: Flight): Promise<FlightEnd> {
    await using _protected = this.#parts.documents.protect();
    return await flyThrough(this.#airspace, flight);
  }

  #land({ flight, end }: FlightEnd): void {
    const { token } = flight.claim;
    const { epoch } = this.#inFlight.get(token)!;
    this.#inFlight.delete(token);
    const ended = typeof end === 'object' ? troubleOf(end) : end;
    if (ended === 'qa' || ended === 'again' || ended === undefined) return;
    const { limit, change } = adaptLimit(this.#limit, { end: ended, epoch }, this.#maxSize);
    this.#limit = limit;
    if (change) this.#parts.emit({ type: 'limit:changed', task: flight.task.name, ...change });
  }

  #runningRows(snapshot: Snapshot): ReadonlySet<number> {
    return rowsOf(
      snapshot,
      [...this.#inFlight.values()].map(({ flight }) => flight.claim.id),
    );
  }

  async #keepVersion(task: Task): Promise<void> {
    if (this.#versions.has(task.version)) return;
    await this.#parts.documents.keepVersion(task.name, task.text);
    this.#versions.add(task.version);
  }

  /** Whatever happened, nothing is left in flight. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#inFlight.size > 0) this.#airspace.failure.abort(new Error('the run ended'));
    await Promise.allSettled([...this.#inFlight.values()].map(({ landing }) => landing));
    await this.#airspace.watch[Symbol.asyncDispose]();
  }
}

/** Rule X5: what passes by itself may be a limit of somebody else's; what a person has to end is none. */
function troubleOf({ trouble }: Exclude<FlightEnd['end'], string>): { trouble: string } | undefined {
  return trouble === undefined || trouble.remedy !== undefined ? undefined : { trouble: trouble.reason };
}
