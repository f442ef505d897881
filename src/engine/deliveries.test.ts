import { expect, test } from 'vitest';
import { Deliveries } from './deliveries.ts';

test('W10 max-deliveries caps what a run sends, and says so once; one that did not go out is not counted', () => {
  const told: string[] = [];
  const deliveries = new Deliveries((event) => void told.push(event.type === 'run:warning' ? event.message : ''));
  expect([deliveries.take(2), deliveries.take(2)]).toEqual([true, true]);
  expect(deliveries.take(2)).toBe(false);
  deliveries.giveBack();
  expect(deliveries.take(2)).toBe(true);
  expect([deliveries.take(2), deliveries.take(undefined)]).toEqual([false, true]);
  expect(told).toEqual(['max-deliveries is reached (2): further results wait for `nightshift deliver`']);
});
