import type { NightshiftEvent } from '../model/events.ts';
import { copyOf } from '../text/short-copy.ts';
import type { CheckpointLine } from './checkpoint.ts';

/** Far more than the orders a fleet runs at once; nothing of an older one can arrive again. */
const MOST_ORDERS = 4096;

/**
 * How far the journal has the lines of each order that a worker carries out. A line that arrives again, because the
 * coordinator ended before it could confirm it, is not above that. Lines of an order are numbered from 1.
 */
export class Positions {
  /** By order: the highest number. The order with the latest line is the last. */
  readonly #highest = new Map<string, number>();

  /** 0 if no line of the order is known. */
  of(order: string): number {
    return this.#highest.get(order) ?? 0;
  }

  add({ order, n }: NightshiftEvent): void {
    // A line may contain anything.
    if (typeof order === 'string' && Number.isSafeInteger(n) && n! > 0) this.#note(order, n!);
  }

  *checkpoint(): Generator<CheckpointLine> {
    for (const [order, n] of this.#highest) yield { type: 'checkpoint:order', order, n };
  }

  restore(line: CheckpointLine): void {
    if (line.type === 'checkpoint:order') this.#note(line.order, line.n);
  }

  #note(order: string, n: number): void {
    const highest = Math.max(n, this.of(order));
    // To the end.
    const isKnown = this.#highest.delete(order);
    this.#highest.set(isKnown ? order : copyOf(order), highest);
    if (this.#highest.size <= MOST_ORDERS) return;
    const [oldest] = this.#highest.keys();
    this.#highest.delete(oldest!);
  }
}
