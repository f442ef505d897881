import type { LessonState } from '../../src/core/learning/lesson.ts';

export interface RowResult {
  readonly done: boolean;
  readonly attempts: number;
}

/** A change of a lesson, with the number of rows that had ended. */
export interface LessonEvent {
  readonly id: string;
  readonly text: string;
  readonly to: LessonState;
  readonly rows: number;
}

/** How a night with one world and one policy went, simulated or with the engine. */
export interface Night {
  readonly rows: readonly RowResult[];
  readonly changes: readonly LessonEvent[];
  /** The Steps at the end. */
  readonly steps: readonly string[];
  /** What `nightshift status` printed then; a simulation has none. */
  readonly status?: string;
}

const TENTHS = 10;

/** All seeds together; shares are from 0 to 1. */
export interface Summary {
  readonly done: readonly number[];
  readonly first: readonly number[];
  readonly attemptsPerDone: number;
}

export function summarise(nights: readonly Night[]): Summary {
  const rows = nights.flatMap((night) => night.rows);
  const attempts = rows.reduce((sum, row) => sum + row.attempts, 0);
  return {
    done: byTenth(nights, ({ done }) => done),
    first: byTenth(nights, ({ done, attempts }) => done && attempts === 1),
    attemptsPerDone: attempts / rows.filter(({ done }) => done).length,
  };
}

function byTenth(nights: readonly Night[], is: (row: RowResult) => boolean): number[] {
  return Array.from({ length: TENTHS }, (_, tenth) => {
    const part = nights.flatMap(({ rows }) => {
      const size = rows.length / TENTHS;
      return rows.slice(tenth * size, (tenth + 1) * size);
    });
    return part.filter(is).length / part.length;
  });
}

/** After how many rows each of these lessons left the Steps again. Those that never did count up to the last row. */
export function rowsInSteps({ changes, rows }: Night, texts: readonly string[]): number[] {
  const admitted = new Map<string, number>();
  const stays: number[] = [];
  for (const change of changes.filter(({ text }) => texts.includes(text))) {
    const since = admitted.get(change.id);
    if (since !== undefined) stays.push(change.rows - since);
    admitted.delete(change.id);
    if (change.to === 'firm') admitted.set(change.id, change.rows);
  }
  return [...stays, ...[...admitted.values()].map((since) => rows.length - since)];
}
