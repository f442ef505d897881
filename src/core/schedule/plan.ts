import type { Counts, TaskCounts } from '../model/events.ts';
import { STATUSES, type Status } from '../model/status.ts';

/** The statuses of all items, one column for each task in Task Order. A value is an index into STATUSES. */
export interface Board {
  readonly count: number;
  readonly tasks: readonly string[];
  readonly columns: readonly Uint8Array[];
}

/** What a run covers. */
export interface Scope {
  readonly task?: string | undefined;
  /** Paused tasks (rule X6): nothing of them is claimed. */
  readonly paused?: ReadonlySet<string>;
  includes(row: number): boolean;
  /** The position of the first task of the row that is in scope; absent: all tasks are. */
  since?(row: number): number;
}

/** A task and the later ones, which build on what it did. */
export function tasksFrom(tasks: readonly string[], task: string): readonly string[] {
  const first = tasks.indexOf(task);
  return first < 0 ? [] : tasks.slice(first);
}

export function isInScope(scope: Scope, row: number, task: number): boolean {
  return scope.includes(row) && (scope.since === undefined || scope.since(row) <= task);
}

const EVERYTHING: Scope = { includes: () => true };

export function isTaskInScope({ task, paused }: Scope, name: string): boolean {
  return (task === undefined || task === name) && !paused?.has(name);
}

const CODE = Object.fromEntries(STATUSES.map((status, code) => [status, code])) as Record<Status, number>;

export function statusAt(board: Board, row: number, task: number): Status {
  return STATUSES[board.columns[task]![row]!]!;
}

/** Rule M4: all earlier tasks of the item are done. */
export function isEligible(board: Board, row: number, task: number): boolean {
  if (board.columns[task]![row] !== CODE.todo) return false;
  for (let earlier = 0; earlier < task; earlier++) if (board.columns[earlier]![row] !== CODE.done) return false;
  return true;
}

export function isWaitingForQa(board: Board, row: number, task: number): boolean {
  return board.columns[task]![row] === CODE.qa;
}

/** How many item-tasks a dev could start now. */
export function countEligible(board: Board, scope: Scope = EVERYTHING): number {
  let count = 0;
  for (const [task, name] of board.tasks.entries()) {
    if (!isTaskInScope(scope, name)) continue;
    for (let row = 0; row < board.count; row++) {
      if (isEligible(board, row, task) && isInScope(scope, row, task)) count++;
    }
  }
  return count;
}

/** The item-tasks at a status, in Task Order and row order. */
export function cellsAt(board: Board, status: Status, scope: Scope = EVERYTHING): { row: number; task: string }[] {
  const cells: { row: number; task: string }[] = [];
  for (const [task, name] of board.tasks.entries()) {
    if (!isTaskInScope(scope, name)) continue;
    const column = board.columns[task]!;
    for (let row = 0; row < board.count; row++) {
      if (column[row] === CODE[status] && isInScope(scope, row, task)) cells.push({ row, task: name });
    }
  }
  return cells;
}

/** The items of a shift, and its item-tasks. */
export interface Progress extends Counts {
  readonly itemTasks: { readonly done: number; readonly total: number };
}

/** Rule F2: completed = all tasks done; failed = any task failed; remaining = the others. */
export function countItems(board: Board, includes?: (row: number) => boolean): Counts {
  const { itemTasks: _, ...counts } = countProgress(board, includes);
  return counts;
}

/** The same, and the item-tasks, in one pass: a run counts again and again. */
export function countProgress(board: Board, includes?: (row: number) => boolean): Progress {
  const { columns } = board;
  const counts: Counts = { total: 0, completed: 0, failed: 0, remaining: 0 };
  let allDone = 0;
  for (let row = 0; row < board.count; row++) {
    if (includes && !includes(row)) continue;
    counts.total++;
    let done = 0;
    let failed = false;
    for (let task = 0; task < columns.length; task++) {
      const code = columns[task]![row];
      if (code === CODE.done) done++;
      else if (code === CODE.failed) failed = true;
    }
    allDone += done;
    if (failed) counts.failed++;
    else if (done > 0 && done === columns.length) counts.completed++;
    else counts.remaining++;
  }
  return { ...counts, itemTasks: { done: allDone, total: counts.total * columns.length } };
}

/** How many cells of each task are at each status. */
export function countCells(board: Board): { task: string; counts: Record<Status, number> }[] {
  return board.tasks.map((task, index) => {
    const counts = { todo: 0, in_progress: 0, qa: 0, done: 0, failed: 0 };
    for (const code of board.columns[index]!) counts[STATUSES[code]!]++;
    return { task, counts };
  });
}

/** The same for the scope of a run, and how many of the `todo` it can't reach (rule M4). */
export function countSelected(board: Board, scope: Scope): TaskCounts[] {
  return board.tasks.flatMap((task, index) => {
    if (!isTaskInScope(scope, task)) return [];
    const counts: TaskCounts = { task, todo: 0, in_progress: 0, qa: 0, done: 0, failed: 0, blocked: 0 };
    const earlier = board.columns
      .slice(0, index)
      .map((column, i) => ({ column, i, isRun: isTaskInScope(scope, board.tasks[i]!) }));
    const isBlocked = (row: number) => {
      const since = scope.since?.(row) ?? 0;
      const isInTheWay = ({ column, i, isRun }: (typeof earlier)[number]) =>
        column[row] === CODE.failed || (!(isRun && since <= i) && column[row] !== CODE.done);
      return since > index || earlier.some(isInTheWay);
    };
    for (const [row, code] of board.columns[index]!.entries()) {
      if (!scope.includes(row)) continue;
      counts[STATUSES[code]!]++;
      if (code === CODE.todo && isBlocked(row)) counts.blocked++;
    }
    return [counts];
  });
}
