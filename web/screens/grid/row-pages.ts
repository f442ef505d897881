import { signal } from '@preact/signals';
import type { GridRow, RowsAnswer, ShiftId } from '../../../src/core/page/answers.ts';
import { type RowQuery, writeRowQuery } from '../../../src/core/page/row-query.ts';
import { ask, type Failure } from '../../state/request.ts';
import type { RowRange } from './visible-range.ts';

const PAGE = 200;
/** Pages that are kept; those far from what is shown go first. */
const KEPT_PAGES = 10;
/** While the user drags the scroll bar, nothing is asked. */
const SETTLED_MS = 60;

interface LoadedPage {
  readonly rows: readonly GridRow[];
  readonly age: number;
}

/** The rows that match a query, as far as they were looked at: pages of 200 from the server. */
export class RowPages {
  /** Undefined until the first answer. */
  readonly size = signal<{ readonly total: number; readonly matching: number } | undefined>(undefined);
  readonly failure = signal<Failure | undefined>(undefined);
  /** Changes with what `at` answers. */
  readonly changes = signal(0);
  readonly #shift: ShiftId;
  readonly #query: URLSearchParams;
  readonly #pages = new Map<number, LoadedPage>();
  readonly #asking = new Map<number, AbortController>();
  #range: RowRange = { first: 0, end: 1 };
  #age = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(shift: ShiftId, query: RowQuery) {
    this.#shift = shift;
    this.#query = writeRowQuery(query);
    this.#load();
  }

  /** Undefined if it is not loaded yet. */
  at(index: number): GridRow | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.rows[index % PAGE];
  }

  show(range: RowRange): void {
    this.#range = range;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#load(), SETTLED_MS);
  }

  /** The table changed. What is shown stays until the answer is there. */
  refresh(): void {
    this.#age += 1;
    this.#load();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const abort of this.#asking.values()) abort.abort();
  }

  #load(): void {
    const [first, last] = [Math.floor(this.#range.first / PAGE), Math.floor(Math.max(0, this.#range.end - 1) / PAGE)];
    for (const [page, abort] of this.#asking) if (page < first || page > last) abort.abort();
    for (let page = first; page <= last; page++) {
      if (!this.#asking.has(page) && this.#pages.get(page)?.age !== this.#age) void this.#ask(page);
    }
  }

  async #ask(page: number): Promise<void> {
    const abort = new AbortController();
    const age = this.#age;
    this.#asking.set(page, abort);
    const params = new URLSearchParams(this.#query);
    for (const [name, value] of Object.entries({ shift: this.#shift, from: page * PAGE, count: PAGE })) {
      params.set(name, String(value));
    }
    const reply = await ask<RowsAnswer>(`/api/rows?${params}`, abort.signal);
    if (this.#asking.get(page) === abort) this.#asking.delete(page);
    if (reply === undefined) return;
    this.failure.value = 'failure' in reply ? reply.failure : undefined;
    if ('failure' in reply) return;
    const { rows, total, matching } = reply.value;
    this.#keep(page, { rows, age });
    if (this.size.value?.total !== total || this.size.value.matching !== matching)
      this.size.value = { total, matching };
    this.changes.value += 1;
    if (age !== this.#age) this.#load();
  }

  #keep(page: number, loaded: LoadedPage): void {
    this.#pages.set(page, loaded);
    const centre = this.#range.first / PAGE;
    const farthest = [...this.#pages.keys()].sort((a, b) => Math.abs(b - centre) - Math.abs(a - centre));
    for (const each of farthest.slice(0, Math.max(0, this.#pages.size - KEPT_PAGES))) this.#pages.delete(each);
  }
}
