export const STATUSES = ['todo', 'in_progress', 'qa', 'done', 'failed'] as const;
export type Status = (typeof STATUSES)[number];

/** Who asks for a change of status (rule T2). `reset` is a person who names the item. */
export type Writer = 'manager' | 'dev' | 'qa' | 'reset';

const ARROWS: Record<Writer, Partial<Record<Status, readonly Status[]>>> = {
  manager: { todo: ['in_progress'], in_progress: ['todo'] },
  dev: { in_progress: ['qa', 'failed'] },
  qa: { qa: ['done', 'failed'] },
  reset: { failed: ['todo'], done: ['todo'], qa: ['todo'], in_progress: ['todo'] },
};

export function isStatus(value: string): value is Status {
  return (STATUSES as readonly string[]).includes(value);
}

export function mayWrite(writer: Writer, from: Status, to: Status): boolean {
  return ARROWS[writer][from]?.includes(to) ?? false;
}

/** Any arrow of the picture, whoever draws it: what `table edit` accepts from a person. */
export function isArrow(from: Status, to: Status): boolean {
  return (Object.keys(ARROWS) as Writer[]).some((writer) => mayWrite(writer, from, to));
}
