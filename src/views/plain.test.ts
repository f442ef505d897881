import { expect, test } from 'vitest';
import type { NightshiftEvent } from '../core/model/events.ts';
import { plainLines } from './plain.ts';
import { RepeatedReasons } from './repeated-reasons.ts';
import { failureLines } from './summary.ts';

function linesOf(happening: object): string[] {
  return plainLines({
    at: '2026-01-02T22:00:00.000Z',
    run: 'r',
    seq: 1,
    shift: 'pages',
    ...happening,
  } as NightshiftEvent);
}

test('T4 a row that you removed is named by the number it had, or by its item; there is no row 0', () => {
  const withdrawn = { type: 'item:withdrawn', task: 'nap', item: 'ab12.0', reason: 'its row was removed' };
  expect(linesOf({ ...withdrawn, index: 0 })[0]).toMatch(/^ {2}row 1: nap withdrawn/);
  expect(linesOf(withdrawn)[0]).toMatch(/^ {2}item ab12\.0: nap withdrawn/);
});

test('X8 a line names the row, safely and briefly, and a long reason is cut in the middle', () => {
  const failed = { type: 'item:recorded', task: 'nap', item: 'a', index: 14, from: 'in_progress', to: 'failed' };
  const reason = `FAILED (step 1): exit code 1: ${'tick '.repeat(200)}\n\u001b[2Jno pillow`;
  const [line = ''] = linesOf({ ...failed, label: 'libgd\u001b-ocaml\n-dev', reason });
  expect(line).toMatch(/^ {2}row 15 libgd\uFFFD-ocaml -dev: nap failed: FAILED \(step 1\): .* … .*no pillow$/);
  expect(line.length).toBeLessThan(220);
  // Journals of older versions have no labels; a forged one may have anything.
  expect(linesOf(failed)).toEqual(['  row 15: nap failed']);
  expect(linesOf({ ...failed, label: { a: 1 } })).toEqual(['  row 15: nap failed']);
});

test('M5 progress counts items and item-tasks, on one line with what was compacted', () => {
  const progress = { type: 'progress', done: 2, total: 24, compacted: false };
  const itemTasks = { done: 14, total: 48 };
  expect(linesOf({ ...progress, itemTasks })).toEqual(['Progress: 2/24 items, 14/48 item-tasks. Compacted: false']);
  expect(linesOf({ ...progress, itemTasks: { done: 2, total: 24 } })).toEqual([
    'Progress: 2/24 items. Compacted: false',
  ]);
  expect(linesOf({ ...progress, compacted: true })).toEqual(['Progress: 2/24 items. Compacted: true']);
});

test('X8 an attempt that fails like the one before says so, and another item says its own reason', () => {
  const repeated = new RepeatedReasons();
  const line = (item: string, attempt: number, reason: string) => {
    const event = {
      type: 'attempt:finished',
      task: 'nap',
      item,
      index: 0,
      attempt,
      maxAttempts: 4,
      status: 'F',
      reason,
    };
    return plainLines(repeated.shorten(event as unknown as NightshiftEvent))[0];
  };
  expect(line('a', 1, 'no pillow')).toBe('  row 1: nap attempt 1 of 4: no pillow');
  expect(line('b', 1, 'no pillow')).toBe('  row 1: nap attempt 1 of 4: no pillow');
  expect(line('a', 2, 'no pillow')).toBe('  row 1: nap attempt 2 of 4: the same');
  expect(line('a', 3, 'no bed')).toBe('  row 1: nap attempt 3 of 4: no bed');
  repeated.shorten({ type: 'item:recorded', task: 'nap', item: 'a' } as NightshiftEvent);
  expect(line('a', 1, 'no bed')).toBe('  row 1: nap attempt 1 of 4: no bed');
});

test('M7 a long reason is printed once, in full, and then the rows with their names', () => {
  const reason = Array.from({ length: 30 }, (_, i) => `line ${i} ${'x'.repeat(400)}`).join('\n');
  const items = Array.from({ length: 25 }, (_, i) => ({ row: i + 1, attempts: 3, label: `page-${i}` }));
  const lines = failureLines({ task: 'nap', reason, items });
  expect(lines[0]).toBe('failed: nap, 25 rows after 3 attempts');
  expect(lines.slice(1, -1)).toEqual(reason.split('\n').map((line) => `  ${line}`));
  expect(lines.at(-1)).toMatch(/^ {2}rows 1 page-0, 2 page-1, .*, 20 page-19 and 5 more$/);
  expect(failureLines({ task: 'nap', reason: 'no bed', items: items.slice(0, 1) })).toEqual([
    'failed: nap, row 1 page-0 after 3 attempts',
    '  no bed',
  ]);
});

test('X8 in a fleet, lines say on which worker an item is, and what becomes of workers', () => {
  const item = { task: 'nap', item: 'a', index: 3, label: 'owl', worker: 'build-3' };
  const reason = 'its lease was over';
  const told = [
    { type: 'run:started', shift: 'pages', total: 1, tasks: ['nap'], agent: 'a', stream: true, adopted: 3 },
    { type: 'fleet:waiting', reason: 'no worker has agent:claude' },
    { type: 'worker:joined', worker: 'build-3', slots: 8, offers: ['agent:claude'] },
    { type: 'fleet:ready', slots: 8 },
    { type: 'attempt:finished', ...item, attempt: 1, maxAttempts: 3, status: 'FAILED', reason: 'no pillow' },
    { type: 'item:recorded', ...item, from: 'qa', to: 'done' },
    ...[3, 1, 0].map((running) => ({ type: 'worker:lost', worker: 'build-3', running })),
    { type: 'result:refused', ...item, reason },
    { type: 'result:refused', worker: 'build-3', reason },
    { type: 'worker:left', worker: 'build\u001b-4' },
  ];
  expect(told.flatMap(linesOf)).toEqual([
    'pages: 1 item, 1 task (nap), agent a, as a stream',
    'adopted 3 items that workers kept running',
    'waiting for workers: no worker has agent:claude',
    'worker build-3 joined: 8 slots',
    'workers are ready: 8 slots',
    '  row 4 owl on build-3: nap attempt 1 of 3: no pillow',
    '  row 4 owl on build-3: nap done',
    'worker build-3 was lost; 3 items are given back',
    'worker build-3 was lost; 1 item is given back',
    'worker build-3 was lost',
    '  row 4 owl on build-3: nap: a late result was refused: its lease was over',
    '  worker build-3: a late result was refused: its lease was over',
    'worker build\uFFFD-4 left',
  ]);
});

test('X8 failures with one reason name their worker once, or each its own', () => {
  const group = (...workers: string[]) => ({
    ...{ task: 'nap', reason: 'no pillow' },
    items: workers.map((worker, i) => ({ row: i + 1, attempts: 1, worker })),
  });
  const lines = (...workers: string[]) => failureLines(group(...workers)).filter((line) => !line.includes('pillow'));
  expect(lines('b-1')).toEqual(['failed: nap, row 1 on b-1 after 1 attempt']);
  expect(lines('b-1', 'b-1')).toEqual(['failed: nap, 2 rows on b-1 after 1 attempt', '  rows 1, 2']);
  expect(lines('b-1', 'b-2')).toEqual(['failed: nap, 2 rows after 1 attempt', '  rows 1 on b-1, 2 on b-2']);
});
