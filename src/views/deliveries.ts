import type { DeliveredRow } from '../app/delivery/deliver-held.ts';
import type { HeldRow } from '../app/delivery/held-rows.ts';
import type { SyncedRow } from '../app/delivery/sync-pull-requests.ts';
import { count } from '../core/text/count.ts';
import { rowName } from './row-name.ts';

const EFFECTS = {
  none: 'stays where it is',
  branch: 'branch',
  merge: 'merge',
  push: 'push',
  pr: 'pull request',
  patch: 'patch',
} as const;

/** What would go out: one line for each row. */
export function heldLines(rows: readonly HeldRow[]): string[] {
  return rows.map((held) => {
    const { kind, branch, into, files, lines, lastReason } = held;
    const target = into === undefined ? '' : ` into ${into}`;
    const again = lastReason === undefined ? '' : `; failed last time: ${lastReason}`;
    const size = `${count(files, 'file')}, ${count(lines, 'line')}`;
    return `${rowName(held)}: ${EFFECTS[kind]}${target}, ${branch} (${size})${again}`;
  });
}

export function deliveredLine(row: DeliveredRow): string {
  const name = rowName(row);
  if (row.result === 'failed') return `${name}: not delivered: ${row.reason}`;
  const { pr_url: url, commit } = row.values;
  return `${name}: delivered ${url || row.note || `${row.branch} at ${commit.slice(0, 10)}`}`;
}

export function deliveredSummary(rows: readonly DeliveredRow[]): string {
  const failed = rows.filter(({ result }) => result === 'failed').length;
  const sent = `${rows.length - failed} of ${count(rows.length, 'row')} delivered`;
  return failed === 0 ? sent : `${sent}; the others stay as they are, and \`nightshift deliver\` sends them again`;
}

export function syncedLine({ row, label, url, from, to, reason }: SyncedRow): string {
  const name = rowName({ row, label });
  if (to === undefined) return `${name}: can't read ${url}: ${reason}`;
  return from === to || from === '' ? `${name}: ${to} ${url}` : `${name}: ${from} -> ${to} ${url}`;
}
