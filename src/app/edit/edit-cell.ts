import { NightshiftError } from '../../core/model/errors.ts';
import { isArrow, isStatus, readStatus, STATUSES } from '../../core/model/status.ts';
import type { CellEdit } from '../../core/model/table-edit.ts';
import { editCells, type Table } from '../../formats/table.ts';
import { refuseOpenBatch } from '../../store/folder/batch-file.ts';
import { identitiesOf } from '../../store/folder/table/identity-file.ts';
import { changeTable } from '../../store/folder/table/table-change.ts';
import { parseIndex, parseRow } from '../rows.ts';
import { type OpenTable, requireColumn, unknownStatus } from './edit-items.ts';
import { findItems, type SeenItem } from './find-items.ts';

export interface CellTarget {
  readonly column: string;
  /** As it was typed: 1-based, or 0-based as qsv counts. Or an item, wherever its row is by now. */
  readonly at: { readonly row: string } | { readonly index: string } | { readonly item: SeenItem };
  /** What it must hold now; absent: anything. */
  readonly was?: string;
}

export interface EditedCell {
  readonly index: number;
  readonly from: string;
  /** Later tasks of an item that went back to `todo`, which keep their status. */
  readonly keptTasks: readonly string[];
}

/** Writes one cell. A status goes only along its arrows (rule T1). */
export async function editCell(open: OpenTable, target: CellTarget, value: string): Promise<EditedCell> {
  const change = (table: Table) => {
    const { column: name, at } = target;
    const column = requireColumn(table, name);
    const row = rowAt(open, table, at);
    const from = table.cell(row, column);
    const isStatusColumn = open.tasks.includes(name);
    const shown = (cell: string) => (isStatusColumn ? (readStatus(cell) ?? cell) : cell);
    if (target.was !== undefined && shown(from) !== shown(target.was)) throw changedMeanwhile(name, row);
    const edits = isStatusColumn ? [statusEdit(open, table, { row, name, from }, value)] : [];
    const keptTasks = value === 'todo' ? begunAfter(open, table, row, name) : [];
    return { table: editCells(table, [{ row, column, value }]), answer: { index: row, from, keptTasks }, edits };
  };
  return changeTable(open.paths, change, open.world.now);
}

function rowAt(open: OpenTable, table: Table, at: CellTarget['at']): number {
  if ('row' in at) return parseRow(at.row, table.rowCount);
  if ('index' in at) return parseIndex(at.index, table.rowCount);
  return findItems(open, table, [at.item])[0]!;
}

function changedMeanwhile(column: string, row: number): NightshiftError {
  const message = `${column} of row ${row + 1} was changed meanwhile; it stays as it is`;
  return new NightshiftError('usage', message, 'look at it again, and then decide');
}

/** Tasks after this one that are not at `todo`: they rest on what it did before. */
function begunAfter({ tasks }: OpenTable, table: Table, row: number, name: string): string[] {
  if (!tasks.includes(name)) return [];
  return tasks
    .slice(tasks.indexOf(name) + 1)
    .filter((task) => readStatus(table.cell(row, requireColumn(table, task))) !== 'todo');
}

interface StatusCell {
  readonly row: number;
  readonly name: string;
  readonly from: string;
}

function statusEdit(open: OpenTable, table: Table, { row, name, from: cell }: StatusCell, to: string): CellEdit {
  const from = readStatus(cell);
  refuseOpenBatch(open.paths, open.world.now());
  if (!isStatus(to)) throw unknownStatus(to);
  if (from === undefined || !isArrow(from, to)) {
    const ways = from === undefined ? [] : STATUSES.filter((status) => isArrow(from, status));
    const hint = ways.length > 0 ? `from ${from} it can become ${ways.join(' or ')}` : undefined;
    throw new NightshiftError('bad-transition', `a status does not go from ${from ?? cell} to ${to}`, hint);
  }
  return { item: identitiesOf(open.paths, table, open.statusAndOutputs).id(row), column: name, from, to };
}
