import { expect, test } from 'vitest';
import type { NightshiftEvent } from '../model/events.ts';
import { History } from './history.ts';

const line = (order: unknown, n: unknown, usage = {}, worker = 'w') =>
  ({
    type: 'usage:spent',
    at: '',
    shift: 's',
    role: 'dev',
    agent: 'a',
    usage,
    worker,
    order,
    n,
  }) as unknown as NightshiftEvent;

const stamp = { at: '', run: 'r', shift: 's' };

function restored(history: History): History {
  const again = new History();
  for (const [i, each] of [...history.checkpoint(stamp)].entries())
    again.read(JSON.parse(JSON.stringify(each)), i === 0);
  return again;
}

test('X6 what is known of an order is the highest line of each worker, also after the journal was rotated', () => {
  const history = new History();
  for (const [order, n] of [
    ['a', 1],
    ['b', 7],
    ['a', 4],
    ['a', 3],
  ])
    history.add(line(order, n));
  for (const [order, n] of [
    ['c', '9'],
    ['c', -1],
    ['c', 0.5],
    [undefined, 8],
    ['c', undefined],
  ]) {
    history.read(line(order, n), false);
  }
  history.add(line('a', 2, {}, 'another one'));
  for (const each of [history, restored(history), restored(restored(history))]) {
    expect(['a', 'b', 'c'].map((order) => each.positionOf(order, 'w'))).toEqual([4, 7, 0]);
    expect(['a', 'b'].map((order) => each.positionOf(order, 'another one'))).toEqual([2, 0]);
  }
});

test('X6 a line that arrives again after a crash of the coordinator is spent once, though another run writes it', () => {
  const sent = [1, 2, 3, 4].map((n) => line('a', n, { costUsd: 1 }));
  const journal: unknown[] = [];
  /** A life of the coordinator: it knows the journal, and takes what is new of the lines that are not confirmed. */
  const live = (run: string, lines: NightshiftEvent[]): History => {
    const history = new History();
    for (const [i, each] of journal.entries()) history.read(each, i === 0);
    for (const [i, each] of lines.entries()) {
      if (each.n! <= history.positionOf(each.order!, 'w')) continue;
      const event = { ...each, run, seq: i + 1 };
      journal.push(event);
      history.add(event);
    }
    return history;
  };
  live('r1', sent.slice(0, 2));
  const rotated = [...live('r2', sent.slice(1, 3)).checkpoint(stamp)];
  journal.splice(0, journal.length, ...rotated);
  expect(live('r3', sent).usage).toEqual({ costUsd: 4 });
});

test('the 4,096 orders with the latest lines are kept, in a checkpoint too', () => {
  const history = new History();
  for (let i = 0; i < 4096; i++) history.add(line(`o${i}`, 2));
  history.add(line('o0', 1));
  history.add(line('new', 1));
  for (const each of [history, restored(history)]) {
    expect(['o0', 'o1', 'o2', 'new'].map((order) => each.positionOf(order, 'w'))).toEqual([2, 0, 2, 1]);
  }
  expect([...history.checkpoint(stamp)].filter(({ type }) => type === 'checkpoint:order')).toHaveLength(4096);
  const more = restored(history);
  more.add(line('newer', 1));
  expect([more.positionOf('o2', 'w'), more.positionOf('o0', 'w')]).toEqual([0, 2]);
});
