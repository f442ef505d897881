import { expect, test } from 'vitest';
import { History } from '../core/folds/history.ts';
import { summariseLearning } from '../core/folds/learning.ts';
import type { LessonRecord, Support } from '../core/learning/lesson.ts';
import type { Happening, NightshiftEvent } from '../core/model/events.ts';
import type { Shift } from '../core/model/shift.ts';
import { STATUSES, type Status } from '../core/model/status.ts';
import { learningLines } from './learning.ts';

const AT = (minute: number) => new Date(Date.UTC(2026, 0, 2, 22, minute)).toISOString();

function lesson(id: string, state: LessonRecord['state'], more: Partial<LessonRecord> = {}): LessonRecord {
  const votes = { support: [], credit: [], blame: [] };
  return { id, task: 'work', text: id, state, since: AT(0), inSteps: state === 'firm', ...votes, ...more };
}

const support = (agent: string, model?: string): Support => ({
  ...{ item: 'i0', row: 1, at: AT(1), attempts: 1, agent },
  ...(model === undefined ? {} : { model }),
});

interface Row {
  readonly attempts: number;
  readonly status?: Status;
  readonly isHeldOut?: true;
}

/** The lines for these lessons and rows. The Steps changed after the first 10 rows. */
function linesFor(
  lessons: readonly LessonRecord[],
  rows: readonly Row[],
  settings: { agent: string; model?: string } = { agent: 'claude' },
): string[] {
  const history = new History();
  const tell = (minute: number, happening: object) => {
    const stamp = { at: AT(minute), run: 'r', seq: minute, shift: 'night' };
    history.add({ ...(happening as Happening), ...stamp } as NightshiftEvent);
  };
  tell(1, { type: 'run:started' });
  const common = { agent: 'claude', key: 'k', version: 'v', ms: 1, captured: {} };
  for (const [index, { attempts, isHeldOut }] of rows.entries()) {
    const subject = { task: 'work', index, item: `i${index}`, ...common };
    if (index === 10) {
      tell(11, {
        type: 'steps:changed',
        task: 'work',
        from: 'a',
        to: 'b',
        summary: '',
        lessons: [],
        batch: 1,
        considered: [],
      });
    }
    tell(index + 2, { type: 'dev:started', ...subject, ...(isHeldOut && { isHeldOut }) });
    tell(index + 2, { type: 'dev:finished', ...subject, status: 'SUCCESS', attempts, model: 'claude-opus-4-5' });
  }
  const items = {
    ...{ tasks: ['work'], count: rows.length, id: (row: number) => `i${row}`, metadata: () => ({}) },
    columns: [Uint8Array.from(rows, ({ status = 'done' }) => STATUSES.indexOf(status))],
  };
  const shift = { settings: { lessons: { mode: 'careful' } }, tasks: [{ name: 'work', settings }] } as unknown as Shift;
  const book = { version: 1 as const, next: 9, lessons };
  return learningLines('night', summariseLearning({ shift, book, items, history }));
}

const rowsOf = (length: number, row: (index: number) => Row) => Array.from({ length }, (_, index) => row(index));

test('L13 one line says what was learned, what was retired and what needs a person; none without lessons', () => {
  expect(
    linesFor(
      [],
      rowsOf(30, () => ({ attempts: 1 })),
    ),
  ).toEqual([]);
  const old = [lesson('L1', 'firm'), lesson('L2', 'pinned'), lesson('L3', 'waiting'), lesson('L4', 'banned')];
  const fresh = [lesson('L5', 'firm', { since: AT(9) }), lesson('L6', 'retired', { since: AT(9) })];
  expect(linesFor([...old, ...fresh, lesson('L7', 'held', { since: AT(9) })], [])).toEqual([
    'lessons: 3 in the Steps (1 new), 1 retired (1 new), 1 waiting for more rows, 1 needs you (1 new), 1 banned; `nightshift lessons night` shows them',
  ]);
});

test('L13 success on the first attempt by tenth of the table, when 20 rows have ended', () => {
  const rows = rowsOf(40, (index) => ({
    attempts: index < 8 ? 2 : 1,
    ...(index < 28 ? {} : { status: 'todo' as const }),
    ...(index === 9 ? { status: 'failed' as const } : {}),
  }));
  expect(linesFor([lesson('L1', 'firm')], rows).slice(1)).toEqual([
    '  work: done on the first attempt, by tenth of the table: 0 0 75 100 100 100 100 - - - %',
  ]);
  expect(linesFor([lesson('L1', 'firm')], rows.slice(0, 20))).toHaveLength(2);
  expect(linesFor([lesson('L1', 'firm')], rows.slice(0, 19)).slice(1)).toEqual([]);
});

test('L13 the result of holdout counts only rows that could have had lessons, with its interval', () => {
  const rows = rowsOf(60, (index) => ({
    attempts: index < 10 || index % 10 === 0 ? 2 : 1,
    ...(index >= 10 && index % 10 === 0 ? { isHeldOut: true as const } : {}),
  }));
  const [, , line] = linesFor([lesson('L1', 'firm')], rows);
  expect(line).toBe(
    '  work: done on the first attempt with lessons 100 % of 45 rows, without 0 % of 5 rows: +100 points (95 % interval +56 to +100)',
  );
});

test('L13 lessons that another agent or model taught are named, with what the task uses now', () => {
  const taught = [
    lesson('L1', 'firm', { support: [support('claude', 'claude-opus-4-5')] }),
    lesson('L2', 'firm', { support: [support('codex', 'gpt-5'), support('claude', 'claude-haiku')] }),
    lesson('L3', 'firm', { support: [support('by hand')] }),
    lesson('L4', 'firm', { by: 'person' }),
    lesson('L5', 'retired', { support: [support('codex')] }),
  ];
  const line = (ids: string, by: string, now: string) => `  work: ${ids} from ${by}, but the task now uses ${now}`;
  const last = (settings?: { agent: string; model?: string }) => linesFor(taught, [{ attempts: 1 }], settings).slice(1);
  // Without a model in its Configuration, the one that its last dev named.
  expect(last()).toEqual([line('lesson L2', 'claude (claude-haiku), codex (gpt-5)', 'claude (claude-opus-4-5)')]);
  expect(last({ agent: 'claude', model: 'opus' })).toEqual([
    line('lesson L2', 'claude (claude-haiku), codex (gpt-5)', 'claude (opus)'),
  ]);
  expect(last({ agent: 'codex', model: 'gpt-5' })).toEqual([
    line('lesson L1', 'claude (claude-opus-4-5)', 'codex (gpt-5)'),
  ]);
});
