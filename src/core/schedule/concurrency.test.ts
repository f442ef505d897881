import { expect, test } from 'vitest';
import {
  adaptConcurrency,
  adaptSize,
  type Concurrency,
  noteRunning,
  openSlots,
  type StreamEnd,
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

type End = 'done' | 'failed';

/** Ends items one by one with a concurrency that is always used; each was dispatched after it last shrank. */
function end(first: Concurrency, ends: readonly End[], max?: number) {
  const sizes: number[] = [];
  let concurrency = first;
  for (const each of ends) {
    concurrency = noteRunning(concurrency, concurrency.size);
    concurrency = adaptConcurrency(concurrency, { end: each, version: concurrency.version }, max).concurrency;
    sizes.push(concurrency.size);
  }
  return sizes;
}
const ends = (count: number, how: End = 'done'): End[] => Array.from({ length: count }, () => how);
const at = (size: number, more: Partial<Concurrency> = {}): Concurrency => ({
  ...startConcurrency({ batchSize: size }),
  ...more,
});
const last = (before: Concurrency, how: Omit<StreamEnd, 'version'>, version = before.version, max?: number) =>
  adaptConcurrency(before, { ...how, version }, max);

test('X7 the concurrency starts as batches do: 2, or what is set, and never above the cap', () => {
  expect(startConcurrency({}).size).toBe(2);
  expect(startConcurrency({ batchSize: 7 }).size).toBe(7);
  expect(startConcurrency({ batchSize: 7, maxBatchSize: 3 }).size).toBe(3);
});

test('X7 it doubles when as many items as may run have ended and at most a fifth failed, and counts anew', () => {
  expect(end(startConcurrency({}), ends(7))).toEqual([2, 4, 4, 4, 4, 8, 8]);
  expect(end(at(10), [...ends(2, 'failed'), ...ends(8)]).at(-1)).toBe(20);
  expect(last(at(5, { done: 3, failed: 1, wasUsed: true }), { end: 'done' }).change).toEqual({
    from: 5,
    to: 10,
    reason: '4 of 5 done',
  });
});

test('X7 it stays when more than a fifth and less than half failed, and counts anew', () => {
  expect(end(at(10), [...ends(3, 'failed'), ...ends(7)]).at(-1)).toBe(10);
  expect(last(at(10, { done: 6, failed: 3, wasUsed: true }), { end: 'done' })).toEqual({
    concurrency: at(10, { wasUsed: true }),
  });
});

test('X7 it halves as soon as half of them failed, however the others end; rounded down, never below 1', () => {
  expect(end(at(7), [...ends(2), ...ends(4, 'failed')])).toEqual([7, 7, 7, 7, 7, 3]);
  expect(last(at(4, { done: 1, failed: 1 }), { end: 'failed' }).change).toEqual({
    from: 4,
    to: 2,
    reason: '2 of 3 failed',
  });
  expect(end(at(1), ends(1, 'failed'))).toEqual([1]);
  expect(last(at(1), { end: 'failed' }).change).toBeUndefined();
});

test('X7 X6 the slots of items that failed in a row stay empty until one is done, and one is always open', () => {
  let concurrency = at(8);
  const open = ([...ends(3, 'failed'), 'done', ...ends(9, 'failed')] as const).map((each) => {
    ({ concurrency } = last(concurrency, { end: each }));
    return openSlots(concurrency);
  });
  expect(open).toEqual([7, 6, 5, 8, 3, 2, 1, 1, 1, 1, 1, 1, 1]);
  expect(concurrency.size).toBe(1);
});

test('X7 items that started before it shrank count neither for growing nor for shrinking again; later ones do', () => {
  const { concurrency } = last(at(8, { failed: 3 }), { end: 'failed' });
  expect([concurrency.size, concurrency.version]).toEqual([4, 1]);
  const used = { ...concurrency, wasUsed: true };
  expect(last(used, { end: 'failed' }, 0)).toEqual({ concurrency: { ...used, failedInRow: 2 } });
  expect(last(used, { end: 'done' }, 0)).toEqual({ concurrency: { ...used, failedInRow: 0 } });
  expect(last({ ...used, failed: 1 }, { end: 'failed' }).concurrency.size).toBe(2);
});

test('X7 X5 trouble and timeouts halve it at once, once for all that ran, and say why', () => {
  const overload = '1 given back: rate limit';
  const { concurrency, change } = last(at(8, { done: 7, wasUsed: true }), { end: 'returned', overload });
  expect(change).toEqual({ from: 8, to: 4, reason: overload });
  expect(last(concurrency, { end: 'returned', overload }, 0)).toEqual({ concurrency });
  expect(last(concurrency, { end: 'failed', overload }).concurrency).toMatchObject({ size: 2, failedInRow: 1 });
  expect(last(at(1), { end: 'returned', overload }).change).toBeUndefined();
  // Withdrawn by a person.
  expect(last(at(8), { end: 'returned' })).toEqual({ concurrency: at(8) });
});

test('X7 it grows only when as many as allowed were really running since the last change', () => {
  let concurrency = noteRunning(at(4), 3);
  for (let i = 0; i < 9; i++) ({ concurrency } = last(concurrency, { end: 'done' }));
  expect(concurrency).toMatchObject({ size: 4, done: 1, wasUsed: false });
  concurrency = noteRunning(concurrency, 4);
  // Fewer that run later on do not undo it.
  concurrency = noteRunning(concurrency, 1);
  for (let i = 0; i < 3; i++) ({ concurrency } = last(concurrency, { end: 'done' }));
  expect(concurrency).toEqual(at(8));
});

test('X7 the cap holds for growth, also one that was lowered meanwhile; at the cap nothing changes', () => {
  expect(end(at(5), ends(13), 8)).toEqual([...Array(4).fill(5), ...Array(9).fill(8)]);
  expect(last(at(8, { done: 7, wasUsed: true }), { end: 'done' }, 0, 8).change).toBeUndefined();
  expect(last(at(16, { failed: 7 }), { end: 'failed' }, 0, 3).concurrency.size).toBe(3);
  const most = at(2 ** 30, { done: 2 ** 30, wasUsed: true });
  expect(last(most, { end: 'done' }).concurrency.size).toBe(2 ** 30);
});
