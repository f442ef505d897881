import { workerOf } from '../../core/folds/item-worker.ts';
import type { GridCell, GridRow, RowsAnswer } from '../../core/page/answers.ts';
import type { RowQuery, RowSpan } from '../../core/page/row-query.ts';
import { statusAt } from '../../core/schedule/plan.ts';
import { createMask, type Mask } from '../../core/text/mask.ts';
import { copyOf } from '../../core/text/short-copy.ts';
import { isBlockedAt } from './row-states.ts';
import type { ShiftReading } from './shift-reader.ts';

const MOST_ROWS = 1000;
const LONGEST_CELL = 300;

/** A part of the rows that match. */
export function answerRows(reading: ShiftReading, query: RowQuery, span: RowSpan): RowsAnswer {
  const { snapshot, shift, version, grid } = reading;
  const found = grid.match(query);
  const from = Math.max(0, Math.min(span.from, found.length));
  const mask = createMask(shift.secrets);
  const columns = query.columns.filter((name) => snapshot.header.includes(name));
  const window = found.subarray(from, from + Math.min(span.count, MOST_ROWS));
  return {
    version,
    total: snapshot.count,
    matching: found.length,
    from,
    rows: Array.from(window, (row) => rowAt(reading, row, columns, mask)),
  };
}

function rowAt(reading: ShiftReading, row: number, columns: readonly string[], mask: Mask): GridRow {
  const { snapshot, history, labels, shift } = reading;
  const item = snapshot.id(row);
  const label = labels.of(shift, snapshot, row);
  const past = snapshot.tasks.map((task) => history.of(task, item));
  const ms = total(past.map((each) => each?.dev?.ms));
  const costUsd = total(past.map((each) => each?.usage.costUsd));
  return {
    row: row + 1,
    item,
    ...(label === undefined ? {} : { label }),
    // Masked first: half a secret would not be found.
    cells: columns.map((column) => copyOf(mask.text(snapshot.cell(row, column)), LONGEST_CELL)),
    tasks: past.map((each, task): GridCell => {
      const status = statusAt(snapshot, row, task);
      const worker = status === 'todo' ? undefined : workerOf(each);
      const isBlocked = isBlockedAt(snapshot.columns, row, task);
      return {
        status,
        attempts: each?.dev?.attempts ?? each?.attempts ?? 0,
        ...(status === 'failed' && each?.failure ? { reason: copyOf(each.failure, LONGEST_CELL) } : {}),
        ...(worker === undefined ? {} : { worker }),
        ...(isBlocked ? { isBlocked } : {}),
      };
    }),
    ...(ms === undefined ? {} : { ms }),
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

/** Undefined if nothing is known. */
function total(amounts: readonly (number | undefined)[]): number | undefined {
  const known = amounts.filter((amount) => amount !== undefined);
  return known.length === 0 ? undefined : known.reduce((all, amount) => all + amount, 0);
}
