import { expect, test } from 'vitest';
import type { NightshiftEvent } from '../model/events.ts';
import { ExpectedCosts } from './expected-cost.ts';

const NOTHING = { costUsd: 0, tokens: 0 };

function event(type: string, item: string, more: object): NightshiftEvent {
  return { type, task: 'make', item, at: new Date(0).toISOString(), ...more } as unknown as NightshiftEvent;
}

function spend(costs: ExpectedCosts, item: string, costUsd: number): void {
  const usage = { costUsd, inputTokens: 100 * costUsd };
  costs.add(event('usage:spent', item, { usage }));
}

function record(costs: ExpectedCosts, item: string, to: string): void {
  costs.add(event('item:recorded', item, { to }));
}

test('X6 an item is expected to cost what those of its task that ended have cost, dev and qa together', () => {
  const costs = new ExpectedCosts();
  spend(costs, 'a', 1);
  expect(costs.mean('make')).toEqual(NOTHING);
  record(costs, 'a', 'qa');
  expect(costs.mean('make')).toEqual(NOTHING);
  spend(costs, 'a', 1);
  record(costs, 'a', 'done');
  expect(costs.mean('make')).toEqual({ costUsd: 2, tokens: 200 });
  spend(costs, 'b', 4);
  record(costs, 'b', 'failed');
  expect(costs.mean('make')).toEqual({ costUsd: 3, tokens: 300 });
  expect(costs.mean('other')).toEqual(NOTHING);
});

test('X6 what a lost worker tells late does not make its item expensive when it is done again', () => {
  const costs = new ExpectedCosts();
  costs.addItem('make', { costUsd: 2, tokens: 200 }, 2000);
  costs.add(event('dev:started', 'a', {}));
  costs.add(event('item:returned', 'a', {}));
  spend(costs, 'a', 1);
  const hours = 3 * 3600_000;
  costs.add(event('dev:started', 'a', { at: new Date(hours).toISOString() }));
  const running = { items: [{ task: 'make', id: 'a' }], now: hours };
  expect(costs.outstanding(running)).toEqual({ costUsd: 2, tokens: 200 });
});

test('X6 items that run reserve what they have yet to report, and new ones start as long as all fit', () => {
  const costs = new ExpectedCosts();
  costs.addItem('make', { costUsd: 2, tokens: 200 }, 2000);
  const at = (item: string, ms: number) => costs.add(event('dev:started', item, { at: new Date(ms).toISOString() }));
  at('a', 0);
  at('b', 0);
  spend(costs, 'b', 1);
  const flight = { items: ['a', 'b', 'c'].map((id) => ({ task: 'make', id })), now: 3000 };
  // The mean for each, 3 for what the first has probably spent by now, and 2 for what the second has not reported.
  expect(costs.outstanding(flight)).toEqual({ costUsd: 11, tokens: 1100 });
  const room = (limits: object, spent = NOTHING) => costs.affordable('make', limits, spent, flight);
  expect(room({})).toBe(Number.POSITIVE_INFINITY);
  expect(room({ 'max-cost': 18 })).toBe(3);
  expect(room({ 'max-cost': 18 }, { costUsd: 5.5, tokens: 0 })).toBe(0);
  expect(room({ 'max-cost': 18, 'max-tokens': 1599 })).toBe(2);
  // Nothing is known of this task, or it costs nothing.
  expect(costs.affordable('other', { 'max-cost': 1 }, NOTHING, { items: [], now: 0 })).toBe(Number.POSITIVE_INFINITY);
});
