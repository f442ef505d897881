import type { NightshiftEvent } from '../model/events.ts';
import { copyOf } from '../text/short-copy.ts';
import type { CheckpointLine } from './checkpoint.ts';

/** Far more than the orders a fleet runs at once; nothing of an older one can arrive again. */
const MOST_ORDERS = 4096;

/**
 * How far the journal has the lines of each order that a worker carries out. A line that arrives again, because the
 * coordinator ended before it could confirm it, is not above that. Each worker numbers its lines of an order from 1: a
 * failover of the database can forget that one has an order, and give it to another.
 */
export class Positions {
  /** By order and worker: the highest number. The one with the latest line is the last. */
  readonly #highest = new Map<string, number>();

  /** 0 if no line of the order is known. */
  of(order: string, worker: string): number {
    return this.#highest.get(nameOf(order, worker)) ?? 0;
  }

  add({ order, worker, n }: NightshiftEvent): void {
    // A line may contain anything.
    if (typeof order !== 'string' || typeof worker !== 'string') return;
    if (Number.isSafeInteger(n) && n! > 0) this.#note(nameOf(order, worker), n!);
  }

  *checkpoint(): Generator<CheckpointLine> {
    for (const [name, n] of this.#highest) {
      const [order = '', ...worker] = name.split(' ');
      yield { type: 'checkpoint:order', order, worker: worker.join(' '), n };
    }
  }

  restore(line: CheckpointLine): void {
    if (line.type === 'checkpoint:order') this.#note(nameOf(line.order, line.worker), line.n);
  }

  #note(name: string, n: number): void {
    const highest = Math.max(n, this.#highest.get(name) ?? 0);
    // To the end.
    const isKnown = this.#highest.delete(name);
    this.#highest.set(isKnown ? name : copyOf(name), highest);
    if (this.#highest.size <= MOST_ORDERS) return;
    const [oldest] = this.#highest.keys();
    this.#highest.delete(oldest!);
  }
}

/** The id of an order contains no space. */
function nameOf(order: string, worker: string): string {
  return `${order} ${worker}`;
}
