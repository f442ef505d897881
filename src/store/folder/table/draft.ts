import { NightshiftError } from '../../../core/model/errors.ts';
import { STATUSES, type Status } from '../../../core/model/status.ts';
import { addColumns, type CellChange, editCells, readStatuses, type Table } from '../../../formats/table.ts';
import type { Snapshot } from '../../store.ts';
import type { Reading } from './reconcile.ts';

/** The table after the next write. Several changes build on each other here. */
export class Draft {
  readonly reading: Reading;
  readonly #tasks: readonly string[];
  readonly #columns: Uint8Array[];
  readonly #copied = new Set<number>();
  readonly #cells = new Map<string, CellChange>();
  #table: Table;

  constructor(reading: Reading, tasks: readonly string[]) {
    this.reading = reading;
    this.#tasks = tasks;
    this.#table = reading.table;
    this.#columns = [...reading.columns];
  }

  status(row: number, task: number): Status {
    return STATUSES[this.#columns[task]![row]!]!;
  }

  setStatus(row: number, task: number, status: Status): void {
    this.setCell(row, this.#tasks[task]!, status);
  }

  setCell(row: number, name: string, value: string): void {
    const column = this.#table.columnOf(name);
    this.#cells.set(`${row}:${column}`, { row, column, value });
    const task = this.#tasks.indexOf(name);
    if (task < 0) return;
    // Snapshots share these arrays with the reading, so they are copied before they are changed.
    if (!this.#copied.has(task)) {
      this.#columns[task] = this.#columns[task]!.slice();
      this.#copied.add(task);
    }
    this.#columns[task]![row] = STATUSES.indexOf(value as Status);
  }

  /** New columns go to the end, so that other cells keep their place. */
  addColumns(names: readonly string[], value: string): void {
    const missing = [...new Set(names)].filter((name) => this.#table.columnOf(name) < 0);
    if (missing.length === 0) return;
    this.#table = addColumns(
      this.#table,
      missing.map((name) => ({ name, value })),
    );
  }

  get isChanged(): boolean {
    return this.#cells.size > 0 || this.#table !== this.reading.table;
  }

  result(): { table: Table; columns: readonly Uint8Array[] } {
    const cells = [...this.#cells.values()];
    return { table: cells.length > 0 ? editCells(this.#table, cells) : this.#table, columns: this.#columns };
  }
}

/** The status columns, decided by the Task Order and never guessed from the values (rule F3). */
export function statusColumns(table: Table, tasks: readonly string[], file: string): Uint8Array[] {
  return tasks.map((task) => {
    const column = table.columnOf(task);
    if (column < 0) {
      throw new NightshiftError(
        'bad-table',
        `the table has no column ${task}, which is in the Task Order`,
        `add the column with \`todo\` in every row, or take ${task} out of the Task Order; the first line must hold the names of the columns`,
        { file, line: 1 },
      );
    }
    return readStatuses(table, column, file);
  });
}

/** `tasks`: the Task Order, whose columns come first in the reading. */
export function snapshotOf(reading: Reading, tasks: readonly string[]): Snapshot {
  const { table, columns, identities } = reading;
  const metadata = table.header.flatMap((name, column) => (tasks.includes(name) ? [] : [{ name, column }]));
  return {
    count: table.rowCount,
    tasks,
    columns: columns.slice(0, tasks.length),
    header: table.header,
    id: (row) => identities.id(row),
    rowOf: (id) => identities.rowOf(id),
    cell: (row, column) => table.cell(row, table.columnOf(column)),
    metadata: (row) => {
      const cells = table.cells(row);
      return Object.fromEntries(metadata.map(({ name, column }) => [name, cells[column]!]));
    },
  };
}
