import { expect, test } from 'vitest';
import type { LessonList } from '../app/lessons/list-lessons.ts';
import type { LessonRecord } from '../core/learning/lesson.ts';
import { lessonLines } from './lessons.ts';

const SINCE = new Date('2026-01-02T22:00').toISOString();
const voteOf = (row: number) => ({ item: `i${row}`, row, at: SINCE });

function lesson(id: string, more: Partial<LessonRecord>): LessonRecord {
  const votes = { support: [], credit: [], blame: [] };
  return { id, task: 'work', text: 'Knock', state: 'firm', since: SINCE, inSteps: true, ...votes, ...more };
}

test('L12 a lesson is shown with its rows, its votes, its reason and its origin, and can not forge a line', () => {
  const list: LessonList = {
    ...{ shift: 'night', mode: 'eager', budget: { lessons: 20, bytes: 6144 } },
    lessons: [
      lesson('L2', { state: 'held', text: 'Send\nit \u001b[2Jaway', reason: 'new command:\ncurl', inSteps: false }),
      lesson('L10', {
        ...{ state: 'pinned', by: 'person', from: 'noon', task: 'other' },
        support: [9, 2].map((row) => ({ ...voteOf(row), attempts: 1, agent: 'claude' })),
        credit: [voteOf(3), voteOf(4)],
        blame: [{ ...voteOf(5), reason: 'no door' }],
      }),
    ],
  };
  expect(`\n${lessonLines(list, Date.parse(SINCE)).join('\n')}\n`).toMatchInlineSnapshot(`
    "
    night: 2 lessons (lessons: eager)

    Held: you decide (\`nightshift lessons night accept|reject ID\`)
      L2  Send it �[2Jaway
          new command: curl
          work; since 22:00

    In the Steps (\`nightshift lessons night pin|ban ID\`)
      L10 Knock
          other; pinned; rows 2, 9; helped 2 rows; harmed 1 row; from the shift noon; by a person; since 22:00
    "
  `);
});
