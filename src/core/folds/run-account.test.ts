import { expect, test } from 'vitest';
import type { NightshiftEvent } from '../model/events.ts';
import { History } from './history.ts';
import { RunAccount } from './run-account.ts';

/** Folds events of a night: `1` is the run before, `2` the one that is accounted for. */
function accountOf(happenings: readonly (Partial<NightshiftEvent> & { run: string })[]): RunAccount {
  const account = new RunAccount('2');
  const history = new History();
  const seqs: Record<string, number> = {};
  for (const happening of happenings) {
    seqs[happening.run] = (seqs[happening.run] ?? 0) + 1;
    const common = { at: '2026-11-18T01:00:00.000Z', seq: seqs[happening.run]!, shift: 'night', task: 'work' };
    const event = { ...common, ...happening } as NightshiftEvent;
    account.add(event, history);
    history.add(event);
  }
  return account;
}

const judged = (run: string, item: string, status: 'PASS' | 'FAIL', checked: readonly boolean[] = [true]) =>
  ({
    type: 'qa:finished',
    run,
    item,
    index: Number(item),
    status,
    ms: 1,
    key: '',
    verdicts: checked.map((isChecked) => ({ criterion: '', status, ...(isChecked ? { checked: true } : {}) })),
  }) as const;

test('X8 what a run changed counts against the run before, also if an item is judged several times', () => {
  const account = accountOf([
    judged('1', '0', 'FAIL'),
    judged('1', '1', 'PASS'),
    judged('1', '2', 'FAIL'),
    judged('2', '0', 'PASS'),
    judged('2', '1', 'FAIL'),
    judged('2', '2', 'FAIL'),
    // Sent back by its qa, then passed: nothing new.
    judged('2', '3', 'FAIL'),
    judged('2', '3', 'PASS'),
    judged('2', '4', 'FAIL'),
  ]);
  expect([...account.passingAgain.values()].map(({ row }) => row)).toEqual([1]);
  expect([...account.newlyFailing.values()].map(({ row }) => row)).toEqual([2, 5]);
});

test('X8 trouble, pauses and spending of the run are summed, and how items that passed were judged', () => {
  const account = accountOf([
    { type: 'usage:spent', run: '1', role: 'dev', agent: 'a', usage: { costUsd: 5 } },
    { type: 'usage:spent', run: '2', role: 'dev', agent: 'a', usage: { costUsd: 0.25 } },
    { type: 'usage:spent', run: '2', role: 'qa', agent: 'a', usage: { costUsd: 0.5 } },
    { type: 'run:waiting', run: '2', ms: 1000, reason: 'rate limit' },
    { type: 'run:waiting', run: '2', ms: 2000, reason: 'rate limit' },
    { type: 'item:returned', run: '2', item: '7', index: 7, reason: 'rate limit' },
    judged('2', '0', 'PASS', [true, true]),
    judged('2', '1', 'PASS', [false]),
    judged('2', '2', 'PASS', [true, false]),
    { type: 'steps:changed', run: '2', from: 'a', to: 'b', summary: '', lessons: [], batch: 1, considered: [] },
    { type: 'steps:changed', run: '2', from: 'b', to: 'c', summary: '', lessons: [], batch: 2, considered: [] },
  ]);
  expect(account.usage.costUsd).toBe(0.75);
  expect(account.waits).toEqual([{ text: 'rate limit', times: 2, ms: 3000 }]);
  expect(account.troubles).toEqual([{ text: 'rate limit', times: 1, ms: 0 }]);
  expect(account.judged).toEqual({ byCheck: 1, byAgent: 1, byBoth: 1 });
  expect(account.steps).toEqual([{ task: 'work', from: 'a', to: 'c' }]);
});
