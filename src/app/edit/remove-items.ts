import { existsSync } from 'node:fs';
import { NightshiftError } from '../../core/model/errors.ts';
import { readStatus } from '../../core/model/status.ts';
import { removeRows, type Table } from '../../formats/table.ts';
import { refuseOpenBatch } from '../../store/folder/batch-file.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';
import { changeTable } from '../../store/folder/table/table-change.ts';
import { isNamed, type NamedRows, namedRows, noMatch, parseConditions } from '../select-rows.ts';
import { type OpenTable, requireColumn } from './edit-items.ts';

interface RemoveRequest extends NamedRows {
  /** `column=value`; a row must match all of them, and be named if rows are named. */
  readonly where?: readonly string[] | undefined;
}

export interface RemovalResult {
  readonly removed: number;
  /** How many of them a run was working on: it stops their agents and drops their results (rule T4). */
  readonly running: number;
}

/** Removes rows from the table, also while the shift runs. */
export async function removeItems(open: OpenTable, request: RemoveRequest): Promise<RemovalResult> {
  const { world, paths, tasks } = open;
  const conditions = parseConditions(request.where) ?? [];
  const hasRows = isNamed(request);
  if (!hasRows && conditions.length === 0) {
    throw new NightshiftError('usage', 'no rows are named', 'write --row N, or --where COLUMN=VALUE');
  }
  refuseOpenBatch(paths, world.now());
  const isRunning = existsSync(paths.runLock) && currentHolder(paths.runLock) !== undefined;
  return changeTable(
    paths,
    (table) => {
      const chosen = namedRows(request, table.rowCount);
      const tests = conditions.map(({ column, value }) => {
        const at = requireColumn(table, column);
        const isStatus = tasks.includes(column);
        return (row: number) => (isStatus ? readStatus(table.cell(row, at)) : table.cell(row, at)) === value;
      });
      const rows = new Set<number>();
      for (let row = 0; row < table.rowCount; row++) {
        if ((!hasRows || chosen.has(row)) && tests.every((test) => test(row))) rows.add(row);
      }
      if (rows.size === 0) throw noMatch(conditions, hasRows);
      if (isRunning && rows.size === table.rowCount) {
        const hint = `\`nightshift stop ${paths.name}\` ends the run`;
        throw new NightshiftError('usage', "all rows can't be removed while the shift runs", hint);
      }
      const running = isRunning ? [...rows].filter((row) => isAtWork(tasks, table, row)).length : 0;
      return { table: removeRows(table, rows), answer: { removed: rows.size, running } };
    },
    world.now,
  );
}

function isAtWork(tasks: readonly string[], table: Table, row: number): boolean {
  return tasks.some((task) => ['in_progress', 'qa'].includes(table.cell(row, requireColumn(table, task))));
}
