import type { Sequence } from '../model/model.ts';
import { type Board, cellsAt, isEligible, isInScope, isTaskInScope, isWaitingForQa, type Scope } from './plan.ts';

/** What may start. */
export interface Limits {
  readonly scope: Scope;
  /** How many devs may start: the size of a batch, or the free slots of a stream. */
  readonly room: number;
}

export interface Situation extends Limits {
  readonly board: Board;
  readonly mode: 'batch' | 'stream';
  readonly sequence: Sequence;
  /** For items at `qa`, in a fleet whose workers have different roles. Absent: the same as for devs. */
  readonly forQa?: Limits;
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
  { board, scope, sequence, room }: Pick<Situation, 'board' | 'scope' | 'sequence' | 'room'>,
  isFree: (row: number) => boolean = () => true,
): Next | undefined {
  const canStart = (row: number, task: number) =>
    isEligible(board, row, task) && isInScope(scope, row, task) && isFree(row);
  const first = sequence === 'rows' ? firstRows : firstTask;
  return withRole('dev', first(board, scope, room, canStart));
}

/** Whether anything is left to start, now or once running items have ended. */
export function isWorkLeft(board: Board, scope: Scope): boolean {
  return chooseNext({ board, scope, mode: 'batch', sequence: 'tasks', room: 1 }) !== undefined;
}

/** What there is to do: something of the task is running in this role, or could start. */
export function openWork(board: Board, scope: Scope): Pick<Next, 'task' | 'role'>[] {
  return board.tasks.flatMap((task) => {
    if (!isTaskInScope(scope, task)) return [];
    const own = { ...scope, task };
    const isForDevs =
      cellsAt(board, 'in_progress', own).length > 0 ||
      chooseForDevs({ board, scope: own, sequence: 'tasks', room: 1 }) !== undefined;
    const isForQas = cellsAt(board, 'qa', own).length > 0;
    return [
      ...(isForDevs ? [{ task, role: 'dev' as const }] : []),
      ...(isForQas ? [{ task, role: 'qa' as const }] : []),
    ];
  });
}

const NO_ROWS: ReadonlySet<number> = new Set();

function choose(situation: Situation, isFree: (row: number) => boolean): Next | undefined {
  const { board, mode } = situation;
  const { scope, room } = situation.forQa ?? situation;
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

/**
 * Rule M2: of the first rows that have an eligible task, those whose task is that of the first row. Rows behind them
 * wait, so that no more rows are begun than run together.
 */
function firstRows(board: Board, scope: Scope, most: number, test: Test): Omit<Next, 'role'> | undefined {
  const tasks = board.tasks.map((_, task) => task).filter((task) => isTaskInScope(scope, board.tasks[task]!));
  const found: { row: number; task: number }[] = [];
  for (let row = 0; row < board.count && found.length < most; row++) {
    const task = tasks.find((each) => test(row, each));
    if (task !== undefined) found.push({ row, task });
  }
  const [first] = found;
  if (!first) return undefined;
  return {
    task: board.tasks[first.task]!,
    rows: found.filter(({ task }) => task === first.task).map(({ row }) => row),
  };
}

function withRole(role: Next['role'], found: Omit<Next, 'role'> | undefined): Next | undefined {
  return found && { ...found, role };
}
