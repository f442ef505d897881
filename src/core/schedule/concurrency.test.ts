import { expect, test } from 'vitest';
import {
  adaptConcurrency,
  adaptSize,
  type Concurrency,
  noteRunning,
  startConcurrency,
  startSize,
} from './concurrency.ts';

const result = (done: number, failed = 0, returned = 0) => ({ done, failed, returned });

test('P1 P2 the first size: 2, or what is set, and never above the cap', () => {
  expect(startSize({})).toBe(2);
  expect(startSize({ batchSize: 7 })).toBe(7);
  expect(startSize({ batchSize: 7, maxBatchSize: 3 })).toBe(3);
  expect(startSize({ maxBatchSize: 1 })).toBe(1);
});

test.each([
  ['all done, also of a shorter batch: doubles', 6, result(1), undefined, 12],
  ['at the cap: stays', 6, result(6), 6, 6],
  ['near the cap: reaches it', 5, result(5), 8, 8],
  ['one failed of many: halves, rounded down', 7, result(6, 1), undefined, 3],
  ['failed at 1: stays at 1', 1, result(0, 1), undefined, 1],
  ['failed and given back: halves', 8, result(3, 1, 4), undefined, 4],
  ['one given back: never doubles', 4, result(3, 0, 1), undefined, 4],
  ['nothing done: stays', 4, result(0), undefined, 4],
  ['a cap that was lowered meanwhile', 16, result(15, 1), 3, 3],
  ['doubling for ever stays a number that can be written', 2 ** 30, result(1), undefined, 2 ** 30],
])('P2 %s', (_, size, end, max, to) => {
  const adapted = adaptSize(size, end, max);
  expect(adapted.to).toBe(to);
  expect(adapted.reason).not.toBe('');
});

/** Ends items one by one with a concurrency that is always used; each was dispatched after the last halving. */
function end(first: Concurrency, ends: readonly ('done' | 'failed')[], max?: number) {
  const sizes: number[] = [];
  let concurrency = first;
  for (const each of ends) {
    concurrency = noteRunning(concurrency, concurrency.size);
    concurrency = adaptConcurrency(concurrency, { end: each, epoch: concurrency.epoch }, max).concurrency;
    sizes.push(concurrency.size);
  }
  return sizes;
}
const ends = (count: number, how: 'done' | 'failed' = 'done') => Array.from({ length: count }, () => how);
const at = (size: number, more: Partial<Concurrency> = {}): Concurrency => ({
  ...startConcurrency({ batchSize: size }),
  ...more,
});

test('X7 the concurrency starts as batches do: 2, or what is set, and never above the cap', () => {
  expect(startConcurrency({}).size).toBe(2);
  expect(startConcurrency({ batchSize: 7 }).size).toBe(7);
  expect(startConcurrency({ batchSize: 7, maxBatchSize: 3 }).size).toBe(3);
});

test('X7 it doubles when as many items as may run ended done in a row, and counts anew from then on', () => {
  expect(end(startConcurrency({}), ends(7))).toEqual([2, 4, 4, 4, 4, 8, 8]);
  expect(adaptConcurrency(at(2, { streak: 1, wasUsed: true }), { end: 'done', epoch: 0 }).change).toEqual({
    from: 2,
    to: 4,
    reason: '2 done in a row',
  });
});

test('X7 a failure halves, rounded down and never below 1, and breaks the row', () => {
  expect(end(at(7), [...ends(6), 'failed', ...ends(2), 'failed', 'failed'])).toEqual([
    ...Array(6).fill(7),
    ...[3, 3, 3, 1, 1],
  ]);
  expect(end(at(4), [...ends(3), 'failed', ...ends(2)])).toEqual([4, 4, 4, 2, 2, 4]);
  const { concurrency, change } = adaptConcurrency(at(4, { streak: 3, wasUsed: true }), { end: 'failed', epoch: 0 });
  expect([change, concurrency.streak, concurrency.wasUsed]).toEqual([{ from: 4, to: 2, reason: '1 failed' }, 0, false]);
  // Nothing changes at 1: no event, and yet the row is broken.
  expect(adaptConcurrency(at(1), { end: 'failed', epoch: 0 })).toEqual({ concurrency: { ...at(1), epoch: 1 } });
});

test('X7 failures of items that were dispatched before a halving do not halve again; later ones do', () => {
  const { concurrency } = adaptConcurrency(at(8), { end: 'failed', epoch: 0 });
  const beside = adaptConcurrency({ ...concurrency, streak: 3, wasUsed: true }, { end: 'failed', epoch: 0 });
  expect(beside).toEqual({ concurrency: { size: 4, streak: 0, wasUsed: true, epoch: 1 } });
  expect(adaptConcurrency(beside.concurrency, { end: 'failed', epoch: 1 }).concurrency.size).toBe(2);
});

test('X7 X5 trouble lowers the concurrency as a failure does, once for all that ran, and says why', () => {
  const trouble = { trouble: 'rate limit' };
  const { concurrency, change } = adaptConcurrency(at(8, { streak: 7, wasUsed: true }), { end: trouble, epoch: 0 });
  expect(change).toEqual({ from: 8, to: 4, reason: '1 given back: rate limit' });
  expect(adaptConcurrency(concurrency, { end: trouble, epoch: 0 })).toEqual({ concurrency });
  expect(adaptConcurrency(concurrency, { end: trouble, epoch: 1 }).concurrency.size).toBe(2);
  expect(adaptConcurrency(at(1), { end: trouble, epoch: 0 }).change).toBeUndefined();
});

test('X7 it grows only when as many as allowed were really in flight since the last change', () => {
  let concurrency = noteRunning(at(4), 3);
  for (let i = 0; i < 9; i++) concurrency = adaptConcurrency(concurrency, { end: 'done', epoch: 0 }).concurrency;
  expect(concurrency).toMatchObject({ size: 4, streak: 9, wasUsed: false });
  concurrency = noteRunning(concurrency, 4);
  // Fewer in flight later on do not undo it.
  concurrency = noteRunning(concurrency, 1);
  expect(adaptConcurrency(concurrency, { end: 'done', epoch: 0 }).concurrency).toEqual(at(8));
});

test('X7 the cap holds for growth, also one that was lowered meanwhile; at the cap nothing changes', () => {
  expect(end(at(5), ends(13), 8)).toEqual([...Array(4).fill(5), ...Array(9).fill(8)]);
  expect(adaptConcurrency(at(8, { streak: 7, wasUsed: true }), { end: 'done', epoch: 0 }, 8).change).toBeUndefined();
  expect(adaptConcurrency(at(16), { end: 'failed', epoch: 0 }, 3).concurrency.size).toBe(3);
  expect(
    adaptConcurrency(at(2 ** 30, { streak: 2 ** 30, wasUsed: true }), { end: 'done', epoch: 0 }).concurrency.size,
  ).toBe(2 ** 30);
});
