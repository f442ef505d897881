import type { ShiftHandle } from '../harness.ts';

/** A line of effects.log, which agent.sh writes; `row` is an index here. */
export interface Effect {
  readonly what: 'start' | 'end';
  readonly role: 'dev' | 'qa';
  readonly task: string;
  readonly row: number;
  readonly attempt: number;
  readonly key: string;
  readonly pid: number;
}

export function readEffects({ project }: ShiftHandle): Effect[] {
  if (!project.exists('.nightshift/effects.log')) return [];
  const lines = project.read('.nightshift/effects.log').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [what, role, task, row, attempt, key, pid] = line.split(' ');
    return { what, role, task, row: Number(row) - 1, attempt: Number(attempt), key, pid: Number(pid) } as Effect;
  });
}
