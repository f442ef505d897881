import { hash } from 'node:crypto';
import type { Counts } from '../model/events.ts';
import type { Usage } from '../model/model.ts';
import type { Status } from '../model/status.ts';
import { type Board, cellsAt, countCells, countItems } from '../schedule/plan.ts';
import type { History } from './history.ts';
import { workerOf } from './item-worker.ts';

/** The state of a shift: its progress, and the reason for each failed item. */
export interface Summary {
  readonly counts: Counts;
  readonly tasks: readonly { readonly task: string; readonly counts: Record<Status, number> }[];
  readonly failures: readonly FailureGroup[];
  readonly usage: Usage;
}

/** Failures with the same reason, apart from values of the items. */
export interface FailureGroup {
  readonly task: string;
  /** As recorded for the first of them. */
  readonly reason: string;
  readonly items: readonly FailedItem[];
}

interface FailedItem {
  readonly row: number;
  readonly attempts: number;
  /** The row's name, if it has one. */
  readonly label?: string;
  /** Where it failed, in a fleet. */
  readonly worker?: string;
}

export interface Items extends Board {
  id(row: number): string;
  metadata(row: number): Readonly<Record<string, string>>;
}

const NO_REASON = 'no reason was recorded (the journal does not have it)';
/** Shorter values occur in too many words by chance. */
const SHORTEST_VALUE = 3;

export function summarise(items: Items, history: History, labelOf: (row: number) => string | undefined): Summary {
  const failures = groupFailures(items, history).map(({ task, reason, rows }) => ({
    task,
    reason,
    items: rows.map((row): FailedItem => {
      const label = labelOf(row);
      const past = history.of(task, items.id(row));
      const worker = workerOf(past);
      const known = { ...(label === undefined ? {} : { label }), ...(worker === undefined ? {} : { worker }) };
      return { row: row + 1, attempts: past?.dev?.attempts ?? 0, ...known };
    }),
  }));
  return { ...summariseProgress(items, history), failures };
}

/** Everything except the failures. */
export function summariseProgress(items: Items, history: History): Omit<Summary, 'failures'> {
  return { counts: countItems(items), tasks: countCells(items), usage: history.usage };
}

/** How many item-tasks each worker of a fleet has now, the most first. Empty without a fleet. */
export function countAtWorkers(
  items: Items,
  history: History,
  statuses: readonly Status[] = ['in_progress', 'qa'],
): WorkerItems[] {
  const counts = new Map<string, number>();
  for (const { row, task } of statuses.flatMap((status) => cellsAt(items, status))) {
    const worker = history.of(task, items.id(row))?.worker;
    if (worker !== undefined) counts.set(worker, (counts.get(worker) ?? 0) + 1);
  }
  const found = [...counts].map(([worker, count]) => ({ worker, items: count }));
  return found.sort((a, b) => b.items - a.items || (a.worker < b.worker ? -1 : 1));
}

export interface WorkerItems {
  readonly worker: string;
  readonly items: number;
}

/** The failures with one reason, by row (0-based). */
export interface FailedRows {
  /** The same as long as the reason is, whichever rows have it. */
  readonly id: string;
  readonly task: string;
  /** As recorded for the first of them. */
  readonly reason: string;
  readonly rows: readonly number[];
}

/** The largest group first. */
export function groupFailures(items: Items, history: History): FailedRows[] {
  const groups = new Map<string, { task: string; reason: string; rows: number[] }>();
  for (const { row, task } of cellsAt(items, 'failed')) {
    const reason = history.of(task, items.id(row))?.failure ?? NO_REASON;
    const key = `${task} ${withoutValues(reason, items.metadata(row))}`;
    const group = groups.get(key);
    if (group) group.rows.push(row);
    else groups.set(key, { task, reason, rows: [row] });
  }
  const named = [...groups].map(([key, group]) => ({ id: hash('sha256', key).slice(0, 12), ...group }));
  return named.sort((a, b) => b.rows.length - a.rows.length);
}

/** `no file out/alpha.html` and `no file out/beta.html` are the same reason. */
function withoutValues(reason: string, metadata: Readonly<Record<string, string>>): string {
  let text = reason;
  for (const [name, value] of Object.entries(metadata)) {
    if (value.length >= SHORTEST_VALUE) text = text.replaceAll(value, `{${name}}`);
  }
  return text;
}
