import { setImmediate as nextTurn } from 'node:timers/promises';
import { type FailedRows, groupFailures } from '../../core/folds/summary.ts';
import { STATUSES } from '../../core/model/status.ts';
import type { RowCounts } from '../../core/page/answers.ts';
import type { RowQuery, SortKey } from '../../core/page/row-query.ts';
import { HistoryNumbers } from './history-numbers.ts';
import { orderByNumber, orderByText, rowsIn } from './row-order.ts';
import { countRows, isBlockedAt } from './row-states.ts';
import type { ShiftReading } from './shift-reader.ts';

type Items = Pick<ShiftReading, 'table' | 'snapshot' | 'text' | 'history' | 'held' | 'isPartial'>;

/** A page scrolls through one query; a few windows may look at the same shift. */
const KEPT_RESULTS = 8;
const FAILED = STATUSES.indexOf('failed');
const NONE: readonly string[] = [];
const PART_ROWS = 2000;

/**
 * Which rows of one reading match a query, and in which order. What a query needs is computed with the first one that
 * needs it, in flat arrays: there may be a million rows.
 */
export class Grid {
  readonly #items: Items;
  #groups: readonly FailedRows[] | undefined;
  #rowCounts: RowCounts | undefined;
  #numbers: HistoryNumbers | undefined;
  readonly #orders = new Map<string, Uint32Array>();
  readonly #results = new Map<string, Uint32Array>();

  constructor(items: Items) {
    this.#items = items;
  }

  /** Makes what searches and sorts will need, in short parts: others get their turn between two of them. */
  async warm(signal: AbortSignal): Promise<void> {
    const { text, isPartial } = this.#items;
    while (!signal.aborted && !text.extend(PART_ROWS)) await nextTurn();
    while (!signal.aborted && !isPartial && !this.#history.extend(PART_ROWS)) await nextTurn();
  }

  /** The failures by reason, the largest group first. None while most reasons are not known yet. */
  get groups(): readonly FailedRows[] {
    const { snapshot, history, isPartial } = this.#items;
    this.#groups ??= isPartial ? [] : groupFailures(snapshot, history);
    return this.#groups;
  }

  get #history(): HistoryNumbers {
    this.#numbers ??= new HistoryNumbers(this.#items);
    return this.#numbers;
  }

  /** How many rows each filter finds in all tasks, and in each of them. */
  get rowCounts(): RowCounts {
    const tasks = [...this.#items.snapshot.tasks.keys()];
    this.#rowCounts ??= {
      all: countRows(this.#items, tasks),
      tasks: tasks.map((task) => countRows(this.#items, [task])),
    };
    return this.#rowCounts;
  }

  /** The rows that match, 0-based, in the order of the query. */
  match(query: RowQuery): Uint32Array {
    const { columns: _, ...choice } = query;
    const key = JSON.stringify(choice);
    const known = this.#results.get(key);
    if (known) return known;
    const order = this.#order(query.sort ?? { by: 'row' }, query.isDescending);
    const marks = this.#mark(query);
    const found = marks ? order.filter((row) => marks[row] === 1) : order;
    if (this.#results.size >= KEPT_RESULTS) this.#results.delete(this.#results.keys().next().value!);
    this.#results.set(key, found);
    return found;
  }

  /** 1 for each row that matches; undefined: all do. */
  #mark({ status, task, group, search }: RowQuery): Uint8Array | undefined {
    if (status.length === 0 && group === undefined && search === undefined) return undefined;
    const marks = new Uint8Array(this.#items.snapshot.count).fill(1);
    if (status.length > 0) this.#markStatus(marks, status, task);
    if (group !== undefined) {
      const rows = this.groups.find(({ id }) => id === group)?.rows ?? [];
      const inGroup = new Uint8Array(marks.length);
      for (const row of rows) inGroup[row] = marks[row]!;
      marks.set(inGroup);
    }
    if (search !== undefined) this.#markText(marks, search);
    return marks;
  }

  #markStatus(marks: Uint8Array, wanted: RowQuery['status'], task: string | undefined): void {
    const { columns, tasks } = this.#items.snapshot;
    const isWanted = STATUSES.map((status) => wanted.includes(status));
    const wantsBlocked = wanted.includes('blocked');
    const held = new Set(wanted.includes('held') ? this.#items.held : []);
    const chosen = task === undefined ? [...tasks.keys()] : [tasks.indexOf(task)].filter((each) => each >= 0);
    for (let row = 0; row < marks.length; row++) {
      const matches = chosen.some((each) => {
        const code = columns[each]![row]!;
        return isWanted[code] || (wantsBlocked && isBlockedAt(columns, row, each));
      });
      if (!matches && !held.has(row)) marks[row] = 0;
    }
  }

  /** Rows with the text in a cell, or in why they failed. */
  #markText(marks: Uint8Array, text: string): void {
    const isInCells = this.#items.text.find(text);
    const wanted = text.toLowerCase();
    for (let row = 0; row < marks.length; row++) {
      if (marks[row] === 0 || isInCells[row] === 1) continue;
      if (!this.#reasonsOf(row).some((reason) => reason.toLowerCase().includes(wanted))) marks[row] = 0;
    }
  }

  #order(sort: SortKey, isDescending: boolean): Uint32Array {
    const key = JSON.stringify([sort, isDescending]);
    let order = this.#orders.get(key);
    if (!order) {
      order = this.#sort(sort, isDescending);
      if (this.#orders.size >= KEPT_RESULTS) this.#orders.delete(this.#orders.keys().next().value!);
      this.#orders.set(key, order);
    }
    return order;
  }

  #sort(sort: SortKey, isDescending: boolean): Uint32Array {
    const { table, snapshot } = this.#items;
    const column = sort.by === 'column' ? table.columnOf(sort.column) : -1;
    // A column that is gone leaves the rows in their order: addresses are older than tables.
    if (sort.by === 'row' || (sort.by === 'column' && column < 0)) {
      const rows = rowsIn(snapshot.count);
      return isDescending ? rows.reverse() : rows;
    }
    if (sort.by !== 'column') {
      this.#history.extend(Number.POSITIVE_INFINITY);
      return orderByNumber(this.#history[sort.by], isDescending);
    }
    const task = snapshot.tasks.indexOf(sort.column);
    if (task >= 0) return orderByNumber(Float64Array.from(snapshot.columns[task]!), isDescending);
    const texts = new Array<string>(snapshot.count);
    for (let row = 0; row < texts.length; row++) texts[row] = table.cell(row, column).trim();
    return orderByText(texts, isDescending);
  }

  /** Why the tasks of a row failed. */
  #reasonsOf(row: number): readonly string[] {
    const { snapshot, history } = this.#items;
    const { tasks, columns } = snapshot;
    if (!columns.some((column) => column[row] === FAILED)) return NONE;
    const item = snapshot.id(row);
    return tasks.flatMap((task, i) => (columns[i]![row] === FAILED ? (history.of(task, item)?.failure ?? NONE) : NONE));
  }
}
