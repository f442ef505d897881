import type { Call } from '../../engine/worker/worker-ports.ts';
import { SCHEMA } from '../schema.ts';
import type { DatabaseLink } from './database-link.ts';
import type { Epoch } from './epoch.ts';
import type { FleetOptions } from './fleet-options.ts';

/** What the run tells all its workers (decision 13): to end soon, and that a limit is used up. */
export class ShiftSignals {
  readonly #options: Pick<FleetOptions, 'database' | 'shift' | 'left'>;
  readonly #epoch: Epoch;
  readonly #link: DatabaseLink;
  readonly #followed = new WeakSet<AbortSignal>();
  #isDraining = false;
  readonly #told: { readonly change: string; readonly values: readonly string[] }[] = [];

  constructor(options: FleetOptions, epoch: Epoch, link: DatabaseLink) {
    this.#options = options;
    this.#epoch = epoch;
    this.#link = link;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** All calls of a run have the same signals. */
  follow({ drain, spent }: Call): void {
    this.#once(drain, () => {
      // Agents that are left with workers continue.
      if (this.#options.left.aborted) return;
      this.#isDraining = true;
      this.#tell('is_draining = true');
    });
    this.#once(spent, () => this.#tell('spent = $2', [String(spent.reason)]));
  }

  /** Writes the signals again, to a database that was repaired. */
  tellAgain(): void {
    for (const { change, values } of this.#told) this.#write(change, values);
  }

  #once(signal: AbortSignal, tell: () => void): void {
    if (this.#followed.has(signal)) return;
    this.#followed.add(signal);
    signal.addEventListener('abort', tell, { once: true });
    if (signal.aborted) tell();
  }

  #tell(change: string, values: readonly string[] = []): void {
    this.#told.push({ change, values });
    this.#write(change, values);
  }

  #write(change: string, values: readonly string[]): void {
    const { database, shift } = this.#options;
    const act = async () => {
      // One that was replaced must not end the orders of the run that has replaced it.
      await this.#epoch.write(database, (own) =>
        own.query(`update ${SCHEMA}.shift set ${change} where key = $1`, [shift.key, ...values]),
      );
      await database.notify('changed', shift.key);
    };
    this.#link.untilAnswered(act).catch(() => {});
  }
}
