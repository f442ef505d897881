import { type Board, isEligible, isInScope, isTaskInScope, isWaitingForQa, type Scope } from './plan.ts';

/** `sequential`: one item, row by row. `batch` and `stream`: items of one task. */
export type Mode = 'sequential' | 'batch' | 'stream';

export interface Situation {
  readonly board: Board;
  readonly scope: Scope;
  readonly mode: Mode;
  /** How many devs may start: the size of a batch, or the free slots of a stream. */
  readonly room: number;
  /** Rows that asked to be tried later (rule X5): other rows go first. */
  readonly deferred?: ReadonlySet<number>;
  /** Rows that are running. In the table, a withdrawn one looks free before its agent has ended. */
  readonly running?: ReadonlySet<number>;
}

/** Item-tasks to claim, all of one task, in row order. */
export interface Next {
  readonly task: string;
  readonly rows: readonly number[];
  /** `qa`: their devs have succeeded, and only their qa is left (rule T5). */
  readonly role: 'dev' | 'qa';
}

/**
 * The only place that decides what runs next (rules M2-M4, P3, T5, X5); undefined if nothing can start now. Items at
 * `qa` come first. Deferred rows come when nothing else can run.
 */
export function chooseNext(situation: Situation): Next | undefined {
  const { deferred = NO_ROWS, running = NO_ROWS } = situation;
  const first = choose(situation, (row) => !running.has(row) && !deferred.has(row));
  if (first || running.size > 0 || deferred.size === 0) return first;
  return choose(situation, () => true);
}

/** The same for devs only, ignoring items at `qa`. */
export function chooseForDevs(
  { board, scope, mode, room }: Situation,
  isFree: (row: number) => boolean = () => true,
): Next | undefined {
  const canStart = (row: number, task: number) =>
    isEligible(board, row, task) && isInScope(scope, row, task) && isFree(row);
  if (mode === 'sequential') return firstRow(board, scope, canStart);
  return withRole('dev', firstTask(board, scope, room, canStart));
}

/** Whether anything is left to start, now or once running items have ended. */
export function isWorkLeft(board: Board, scope: Scope): boolean {
  return chooseNext({ board, scope, mode: 'batch', room: 1 }) !== undefined;
}

const NO_ROWS: ReadonlySet<number> = new Set();

function choose(situation: Situation, isFree: (row: number) => boolean): Next | undefined {
  const { board, scope, mode, room } = situation;
  const waits = (row: number, task: number) =>
    isWaitingForQa(board, row, task) && isInScope(scope, row, task) && isFree(row);
  // A batch judges all of them, one by one; in a stream each needs a slot.
  const most = mode === 'stream' ? room : Number.POSITIVE_INFINITY;
  return withRole('qa', firstTask(board, scope, most, waits)) ?? chooseForDevs(situation, isFree);
}

type Test = (row: number, task: number) => boolean;

/** Rule M3: the first task in Task Order with eligible items, and the first of these rows. */
function firstTask(board: Board, scope: Scope, most: number, test: Test): Omit<Next, 'role'> | undefined {
  for (const [task, name] of board.tasks.entries()) {
    if (!isTaskInScope(scope, name)) continue;
    const rows: number[] = [];
    for (let row = 0; row < board.count && rows.length < most; row++) if (test(row, task)) rows.push(row);
    if (rows.length > 0) return { task: name, rows };
  }
  return undefined;
}

/** Rule M2: all tasks of a row, then the next row. */
function firstRow(board: Board, scope: Scope, test: Test): Next | undefined {
  for (let row = 0; row < board.count; row++) {
    for (const [task, name] of board.tasks.entries()) {
      if (isTaskInScope(scope, name) && test(row, task)) return { task: name, rows: [row], role: 'dev' };
    }
  }
  return undefined;
}

function withRole(role: Next['role'], found: Omit<Next, 'role'> | undefined): Next | undefined {
  return found && { ...found, role };
}
