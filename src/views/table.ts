import type { TokenEditResult } from '../app/batch/token-edit.ts';
import type { Reset } from '../app/edit/edit-items.ts';
import type { FoundRows } from '../app/edit/query-table.ts';
import type { RemovalResult } from '../app/edit/remove-items.ts';
import { count } from '../core/text/count.ts';
import { printable } from '../core/text/printable.ts';

/** CSV as it is in the file, with the 1-based row in front. */
export function* rowLines(rows: FoundRows): Generator<string> {
  yield `row,${printable(rows.line())}`;
  for (const index of rows.indices) yield `${index + 1},${printable(rows.line(index))}`;
}

export function rowsJson(rows: FoundRows): string {
  return JSON.stringify({ rows: rows.indices.map((index) => ({ row: index + 1, index, ...rows.cells(index) })) });
}

/** `3 reset to todo: draft 1, send 2`. */
export function resetLine({ reset, tasks }: Reset): string {
  const counts = Object.entries(tasks).map(([task, number]) => `${task} ${number}`);
  return `${reset} reset to todo${counts.length > 1 ? `: ${counts.join(', ')}` : ''}`;
}

/** `2 rows removed, 1 of them running: ...`. */
export function removedLine({ removed, running }: RemovalResult): string {
  const stopped = 'agents stopped, results dropped';
  return `${count(removed, 'row')} removed${running > 0 ? `, ${running} of them running: ${stopped}` : ''}`;
}

export function tokenEditLine(result: TokenEditResult): string {
  if (result.isWritten) {
    const { task, index, status, reason } = result;
    const why = reason === undefined ? '' : ` (${printable(reason)})`;
    return `${task} of row ${index + 1} (index ${index}): ${status}${why}`;
  }
  const { reason, attemptsLeft } = result;
  const next = attemptsLeft === undefined ? 'run it again' : `attempts left: ${attemptsLeft}`;
  return `not written: ${printable(reason)}; ${next}`;
}
