import type { ShiftStatus } from '../core/folds/shift-status.ts';
import type { FailureGroup } from '../core/folds/summary.ts';
import { formatDuration } from '../core/model/duration.ts';
import { STATUSES } from '../core/model/status.ts';
import { count } from '../core/text/count.ts';
import { keptLines } from './kept-workspaces.ts';
import { markdownHeader, markdownRow, markdownText } from './markdown.ts';
import { nextLine } from './next-line.ts';
import { usageText } from './summary.ts';

/** Bounds of the page, however large the shift is: a job summary on GitHub may have 1 MiB. */
const GROUPS_SHOWN = 50;
const ROWS_SHOWN = 20;
const REASON_LENGTH = 600;

/** A shift on one page: counts, why items failed, what it cost, how the last run ended. */
export function markdownSummary(status: ShiftStatus): string[] {
  const { shift, counts, tasks, running, lastRun, usage, ms, next, workspaces } = status;
  const { total, completed, failed, remaining } = counts;
  const spent = [formatDuration(ms), usageText(usage)].filter((part) => part !== undefined).join(', ');
  return [
    `# ${markdownText(shift)}`,
    '',
    `${count(total, 'item')}, ${completed} completed, ${failed} failed, ${remaining} remaining. ${markdownText(spent)}`,
    '',
    ...markdownHeader(['task', ...STATUSES]),
    ...tasks.map(({ task, counts: cells }) => markdownRow([task, ...STATUSES.map((name) => String(cells[name]))])),
    ...failureTable(status.failures),
    ...(running ? ['', 'It is running.'] : []),
    ...(!running && lastRun?.end
      ? ['', `The last run ended: ${markdownText(lastRun.end.reason.slice(0, REASON_LENGTH))}`]
      : []),
    ...keptLines(shift, workspaces, running !== null).flatMap((line) => ['', `${line}.`]),
    ...(next ? ['', `${nextLine(next)}.`] : []),
  ];
}

function failureTable(failures: readonly FailureGroup[]): string[] {
  if (failures.length === 0) return [];
  const hidden = failures.length - GROUPS_SHOWN;
  return [
    '',
    ...markdownHeader(['failed', 'rows', 'attempts', 'reason']),
    ...failures.slice(0, GROUPS_SHOWN).map(({ task, items, reason }) => {
      const rows = items.slice(0, ROWS_SHOWN).map(({ row }) => row);
      const more = items.length > ROWS_SHOWN ? ` and ${items.length - ROWS_SHOWN} more` : '';
      const attempts = Math.max(...items.map((item) => item.attempts));
      return markdownRow([task, `${rows.join(', ')}${more}`, String(attempts), reason.slice(0, REASON_LENGTH)]);
    }),
    ...(hidden > 0 ? ['', `${count(hidden, 'more reason')}.`] : []),
  ];
}
