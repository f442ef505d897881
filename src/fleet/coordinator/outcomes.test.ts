import { expect, test } from 'vitest';
import type { Order } from '../../core/model/model.ts';
import { Losses } from './outcomes.ts';

const order = (id: string) => ({ task: 'work', item: { id, index: 0, metadata: {} } }) as Pick<Order, 'task' | 'item'>;

test('an item that is alone on workers that are lost fails; one that was beside others does not', () => {
  const losses = new Losses();
  const alone = [1, 2, 3].map(() => losses.add(order('alone'), 1));
  expect(alone).toEqual([undefined, undefined, 3]);

  const beside = Array.from({ length: 24 }, () => losses.add(order('beside'), 8));
  expect(beside.slice(0, 23).every((times) => times === undefined)).toBe(true);
  expect(beside[23]).toBe(24);
});
