export const STATUSES = ['todo', 'in_progress', 'qa', 'done', 'failed'] as const;
export type Status = (typeof STATUSES)[number];

/** Who changes a status (rule T2). `retry`: the engine sends an item back to its dev. `reset`: a person resets it. */
export type Writer = 'manager' | 'dev' | 'qa' | 'retry' | 'reset';

const ARROWS: Record<Writer, Partial<Record<Status, readonly Status[]>>> = {
  manager: { todo: ['in_progress'], in_progress: ['todo'] },
  dev: { in_progress: ['qa', 'failed'] },
  qa: { qa: ['done', 'failed'] },
  retry: { qa: ['in_progress'] },
  reset: { failed: ['todo'], done: ['todo'], qa: ['todo'], in_progress: ['todo'] },
};

export function isStatus(value: string): value is Status {
  return (STATUSES as readonly string[]).includes(value);
}

/** The status of a cell; an empty cell is `todo` (rule F6). Undefined for anything else. */
export function readStatus(cell: string): Status | undefined {
  if (cell.trim() === '') return 'todo';
  return isStatus(cell) ? cell : undefined;
}

export function mayWrite(writer: Writer, from: Status, to: Status): boolean {
  return ARROWS[writer][from]?.includes(to) ?? false;
}

/** Who records a change of a claimed item: the role that has it, or the engine, which sends it back to the dev. */
export function writerOf(from: Status, to: Status): Writer {
  if (from === 'qa') return to === 'in_progress' ? 'retry' : 'qa';
  return 'dev';
}

/** A transition that only a run may make is not among them. */
const PEOPLE_AS: readonly Writer[] = ['manager', 'dev', 'qa', 'reset'];

/** Any transition that a person may make: what `table edit` accepts. */
export function isArrow(from: Status, to: Status): boolean {
  return PEOPLE_AS.some((writer) => mayWrite(writer, from, to));
}
