import type { ShiftStatus } from '../core/folds/shift-status.ts';
import { count } from '../core/text/count.ts';
import { localTime } from '../core/text/local-time.ts';
import { oneLine } from '../core/text/printable.ts';
import { keptLines, resultsLines } from './kept-workspaces.ts';
import { learningLines } from './learning.ts';
import { nextLine } from './next-line.ts';
import { workerText } from './row-name.ts';
import { summaryLines, usageText } from './summary.ts';

const WORKERS_SHOWN = 6;

/** What surrounds a status: the limits in words, and the time. */
export interface StatusContext {
  readonly limits: readonly string[];
  readonly now: number;
}

export function statusLines(status: ShiftStatus, context: StatusContext): string[] {
  const { shift, learning } = status;
  return [...summaryLines(shift, status), ...learningLines(shift, learning), ...runLines(status, context)];
}

/** What was spent, what is running, and how the last run ended. */
export function runLines(status: ShiftStatus, { limits, now }: StatusContext): string[] {
  const { shift, running, paused, batch, tasks, usage, next, putBack, results, workspaces } = status;
  const lines = [...resultsLines(shift, results), ...keptLines(shift, workspaces, running !== null)];
  const spent = usageText(usage);
  if (spent !== undefined) lines.push(spent);
  if (limits.length > 0) lines.push(`limits: ${limits.join(', ')}`);
  if (putBack.length > 0) {
    lines.push(`reverted: edits of ${putBack.join(', ')}; \`nightshift accept ${shift}\` shows them`);
  }
  if (batch) {
    const { task, items, opened, isStale } = batch;
    const silence = isStale ? '; its program is gone, or it gave no sign of life for longer than its timeout' : '';
    lines.push(`a batch is open since ${localTime(opened, now)}: ${task}, ${count(items, 'item')}${silence}`);
  }
  if (paused) lines.push(`paused since ${localTime(paused.since, now)}; \`nightshift resume ${shift}\` continues`);
  if (running) {
    lines.push(`running: process ${running.pid} since ${localTime(running.since, now)}`);
    const { waitingFor } = status.lastRun ?? {};
    return [
      ...lines,
      ...(waitingFor === undefined ? [] : [`  waiting for workers: ${oneLine(waitingFor, 1000)}`]),
      ...workerLines(status),
    ];
  }
  lines.push(...lastRunLines(status, now));
  if (next) {
    const interrupted = tasks.reduce((total, { counts }) => total + counts.in_progress, 0);
    const left = interrupted > 0 ? `${count(interrupted, 'item')} in progress when it was interrupted; ` : '';
    lines.push(`not running: ${left}${nextLine(next)}`);
  }
  return lines;
}

/** `12 items on build-1, 3 on build-3`; `fleet status` has all workers. */
function workerLines({ workers = [] }: ShiftStatus): string[] {
  if (workers.length === 0) return [];
  const texts = workers.slice(0, WORKERS_SHOWN).map(({ worker, items }, place) => {
    return `${place === 0 ? count(items, 'item') : items}${workerText(worker)}`;
  });
  const left = workers.length - texts.length;
  return [`  ${texts.join(', ')}${left > 0 ? ` and ${count(left, 'more worker')}` : ''}`];
}

/** After an error, the reason also says what to do. */
function lastRunLines({ lastRun }: ShiftStatus, now: number): string[] {
  if (!lastRun) return [];
  const { end, lastAt } = lastRun;
  if (!end) return [`the last run was killed, or ended by an error, after ${localTime(lastAt, now)}`];
  const how = end.error === undefined ? '' : ` by an error, with exit code ${end.exitCode}`;
  return [`the last run ended ${localTime(lastAt, now)}${how}: ${oneLine(end.reason, 1000)}`];
}
