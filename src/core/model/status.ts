export const STATUSES = ['todo', 'in_progress', 'qa', 'done', 'failed'] as const;
export type Status = (typeof STATUSES)[number];

/** Who asks for a change of status (rule T2). `retry`: the engine sends it back to its dev. `reset`: a person who names it. */
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

/** What a cell says: a status that nobody has written yet is `todo` (rule F6). Undefined: something else. */
export function readStatus(cell: string): Status | undefined {
  if (cell.trim() === '') return 'todo';
  return isStatus(cell) ? cell : undefined;
}

export function mayWrite(writer: Writer, from: Status, to: Status): boolean {
  return ARROWS[writer][from]?.includes(to) ?? false;
}

/** Who records a change for a claim: the side that has it, or the engine, which sends it back to the dev. */
export function writerOf(from: Status, to: Status): Writer {
  if (from === 'qa') return to === 'in_progress' ? 'retry' : 'qa';
  return 'dev';
}

/** What only a run decides is nobody else's to write. */
const PEOPLE_AS: readonly Writer[] = ['manager', 'dev', 'qa', 'reset'];

/** Any arrow of the picture, whoever draws it: what `table edit` accepts from a person. */
export function isArrow(from: Status, to: Status): boolean {
  return PEOPLE_AS.some((writer) => mayWrite(writer, from, to));
}
