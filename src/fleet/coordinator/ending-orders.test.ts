import { expect, test } from 'vitest';
import { EndingOrders } from './ending-orders.ts';

test('one query serves all ending orders', async () => {
  const questions: (readonly string[])[] = [];
  const onWorkers = async (ids: readonly string[]) => {
    questions.push(ids);
    // The last one takes longer.
    return new Set(questions.length < 4 ? ['399'] : []);
  };
  const orders = new EndingOrders({ onWorkers }, new AbortController().signal);
  const ids = Array.from({ length: 400 }, (_, i) => String(i));
  await Promise.all(ids.map((id) => orders.released(id)));
  expect(questions.map(({ length }) => length)).toEqual([1, 399, 1, 1]);
  await orders.released('again');
  expect(questions).toHaveLength(5);
});

test('a run without a database waits for none', async () => {
  let questions = 0;
  const closing = new AbortController();
  const onWorkers = async (ids: readonly string[]) => {
    if (++questions === 3) closing.abort();
    return new Set(ids);
  };
  const orders = new EndingOrders({ onWorkers }, closing.signal);
  await Promise.all(['one', 'two'].map((id) => orders.released(id)));
  expect(questions).toBe(3);
});
