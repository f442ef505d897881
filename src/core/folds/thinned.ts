/** A long series becomes coarser, not longer. */
const MOST = 500;

/** A series of bounded length: the first point, the last one, and every second, fourth, eighth ... of the others. */
export class Thinned<T> {
  #kept: T[] = [];
  #count = 0;
  #step = 1;
  last: T | undefined;

  add(point: T): void {
    this.last = point;
    if (this.#count++ % this.#step !== 0) return;
    this.#kept.push(point);
    if (this.#kept.length < 2 * MOST) return;
    this.#kept = this.#kept.filter((_, at) => at % 2 === 0);
    this.#step *= 2;
  }

  get points(): readonly T[] {
    return this.last === undefined || this.#kept.at(-1) === this.last ? this.#kept : [...this.#kept, this.last];
  }
}
