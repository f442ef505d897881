import { expect, test } from 'vitest';
import type { NightshiftEvent } from '../core/model/events.ts';
import { plainLines } from './plain.ts';

function linesOf(happening: object): string[] {
  return plainLines({
    at: '2026-01-02T22:00:00.000Z',
    run: 'r',
    seq: 1,
    shift: 'pages',
    ...happening,
  } as NightshiftEvent);
}

test('T4 a row that somebody removed is named by the number it had, or by its item; there is no row 0', () => {
  const withdrawn = { type: 'item:withdrawn', task: 'nap', item: 'ab12.0', reason: 'its row was removed' };
  expect(linesOf({ ...withdrawn, index: 0 })[0]).toMatch(/^ {2}row 1 nap: withdrawn/);
  expect(linesOf(withdrawn)[0]).toMatch(/^ {2}item ab12\.0 nap: withdrawn/);
});
