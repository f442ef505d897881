import { NightshiftError } from '../../src/core/model/errors.ts';
import type { Store } from '../../src/store/store.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** A file of the shift that can't be read for some time. Milliseconds after the start of the run. */
export interface Outage {
  readonly of: 'table' | 'manifest';
  readonly at: number;
  /** Infinity: nobody repairs it. */
  readonly ms: number;
}

/** What the run meets of an outage. */
export class Outages {
  readonly #clock: SimulatedClock;
  readonly #start: number;
  readonly #outage: Outage | undefined;
  #isRestored = false;

  constructor(clock: SimulatedClock, outage: Outage | undefined) {
    this.#clock = clock;
    this.#start = clock.now();
    this.#outage = outage;
  }

  store(store: Store): Store {
    if (!this.#outage) return store;
    return new Proxy(store, {
      get: (_, name) => {
        const member = Reflect.get(store, name, store);
        // Leases are in memory.
        if (name === 'leases' || name === 'renew') return member.bind(store);
        if (name === 'restore') return async () => this.#restore();
        return async (...args: unknown[]) => {
          this.#throwIf('table');
          return member.apply(store, args);
        };
      },
    });
  }

  load<T>(load: () => T): () => Promise<T> {
    return async () => {
      this.#throwIf('manifest');
      return load();
    };
  }

  #throwIf(of: Outage['of']): void {
    if (!this.#isUnreadable(of)) return;
    const [code, file] =
      of === 'table' ? (['bad-table', 'table.csv'] as const) : (['bad-manager', 'manager.md'] as const);
    throw new NightshiftError(code, `${file} is broken`, 'repair it', { file: `/r/f/${file}`, line: 1 });
  }

  #isUnreadable(of: Outage['of']): boolean {
    if (this.#outage?.of !== of || this.#isRestored) return false;
    const ms = this.#clock.now() - this.#start;
    return ms >= this.#outage.at && ms < this.#outage.at + this.#outage.ms;
  }

  #restore(): { kept: string } | undefined {
    if (!this.#isUnreadable('table')) return undefined;
    this.#isRestored = true;
    return { kept: '/r/f/table.csv.put-back' };
  }
}
