/** A cell that you changed with a command, possibly during a run: the run accepts it. */
export interface CellEdit {
  item: string;
  column: string;
  from: string;
  to: string;
}

/** A metadata column that you changed with a command: all items keep their identity. `value`: of every row. */
export type ColumnChange =
  | { kind: 'add'; name: string; value: string }
  | { kind: 'rename'; name: string; to: string }
  | { kind: 'drop'; name: string };
