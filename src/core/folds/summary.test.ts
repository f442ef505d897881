import { expect, test } from 'vitest';
import type { NightshiftEvent } from '../model/events.ts';
import { STATUSES, type Status } from '../model/status.ts';
import { History } from './history.ts';
import { summarise } from './summary.ts';

test('M7 failures that differ only by the values of their rows are one group; larger groups come first; an old table has no reasons', () => {
  const names = ['alpha', 'bravo', 'charlie', 'delta', 'no'];
  const statuses: Status[] = ['failed', 'failed', 'failed', 'failed', 'done'];
  const items = {
    count: 5,
    tasks: ['work'],
    columns: [Uint8Array.from(statuses, (status) => STATUSES.indexOf(status))],
    id: (row: number) => `i${row}`,
    metadata: (row: number) => ({ name: names[row]!, short: 'a' }),
  };
  const history = new History();
  const reasons = ['a timeout', 'no file out/bravo.html', 'no file out/charlie.html'];
  for (const [index, reason] of reasons.entries()) {
    const event = {
      type: 'dev:finished',
      task: 'work',
      item: `i${index}`,
      index,
      status: 'FAILED',
      attempts: index + 1,
      ms: 1,
      key: 'k',
      reason,
    };
    history.add({ ...event, at: 't', run: 'r', seq: index, shift: 's' } as NightshiftEvent);
  }
  expect(summarise(items, history, (row) => (row === 2 ? 'charlie' : undefined)).failures).toEqual([
    {
      task: 'work',
      reason: 'no file out/bravo.html',
      items: [
        { row: 2, attempts: 2 },
        { row: 3, attempts: 3, label: 'charlie' },
      ],
    },
    { task: 'work', reason: 'a timeout', items: [{ row: 1, attempts: 1 }] },
    { task: 'work', reason: expect.stringContaining('no reason was recorded'), items: [{ row: 4, attempts: 0 }] },
  ]);
});
