import { expect, test } from 'vitest';
import type { ShiftStatus } from '../core/folds/shift-status.ts';
import { markdownSummary } from './markdown-summary.ts';

test('X8 a summary fits on a page, however many rows fail for however many reasons', () => {
  const items = Array.from({ length: 1000 }, (_, i) => ({ row: i + 1, attempts: 3 }));
  const failures = Array.from({ length: 1000 }, (_, i) => ({
    task: 'work',
    reason: `${i}: ${'é|'.repeat(5000)}`,
    items,
  }));
  const counts = { total: 1000, completed: 0, failed: 1000, remaining: 0 };
  const cells = { todo: 0, in_progress: 0, qa: 0, done: 0, failed: 1000 };
  const tasks = [{ task: 'work', counts: cells }];
  const status = {
    shift: 'night',
    counts,
    tasks,
    failures,
    usage: {},
    ms: 1000,
    running: null,
    lastRun: null,
    next: null,
    workspaces: { kept: 0, held: 0 },
  };
  const text = markdownSummary(status as unknown as ShiftStatus).join('\n');
  expect(Buffer.byteLength(text)).toBeLessThan(1 << 18);
  expect(text).toContain('| 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 980 more | 3 |');
  expect(text).toContain('950 more reasons.');
});
