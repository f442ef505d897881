import { expect, test } from 'vitest';
import type { NightshiftEvent } from '../model/events.ts';
import { Tally } from './tally.ts';

/** Events as the journal has them: the second, the run, and what happened. */
function fold(...lines: [number, string, object][]): Tally {
  const tally = new Tally();
  for (const [second, run, happening] of lines) {
    const at = new Date(second * 1000).toISOString();
    tally.add({ at, run, seq: 1, shift: 'night', ...happening } as NightshiftEvent);
  }
  return tally;
}

const STARTED = { type: 'run:started' };
const failed = (item: string, failurePoint: string, task = 'make'): [number, string, object][] => [
  [1, 'r', { type: 'dev:finished', status: 'FAILED', task, item, failurePoint }],
  [1, 'r', { type: 'item:recorded', from: 'in_progress', to: 'failed', task, item }],
];
const done = (item: string): [number, string, object] => [
  1,
  'r',
  { type: 'item:recorded', from: 'qa', to: 'done', task: 'make', item },
];

test('X6 the time of a shift is that of all its runs, also of one that was killed, and not what lies between', () => {
  const tally = fold(
    [100, 'first', STARTED],
    [160, 'first', { type: 'usage:spent', usage: {} }],
    // Killed. A person edits the table meanwhile, which is of no run.
    [500, '', { type: 'table:edited', changes: [] }],
    [900, 'second', { type: 'run:warning', message: '' }],
    [1000, 'second', STARTED],
    [1030, 'second', { type: 'run:finished', exitCode: 0, ms: 32_000 }],
  );
  expect(tally.ms).toBe(92_000);
});

test('X6 the time of a run is the active time that its events tell, whatever the clock on the wall did', () => {
  const tally = fold(
    // The clock was set back by two hours; then the run was killed.
    [9000, 'first', { ...STARTED, elapsed: 20 }],
    [1800, 'first', { type: 'usage:spent', usage: {}, elapsed: 60_000 }],
    // The machine slept for an hour.
    [10_000, 'second', { ...STARTED, elapsed: 10 }],
    [13_600, 'second', { type: 'usage:spent', usage: {}, elapsed: 5000 }],
    [13_601, 'second', { type: 'run:finished', exitCode: 0, ms: 6000, elapsed: 6000 }],
  );
  expect(tally.ms).toBe(66_000);
});

test('X6 failures in a row count for one task, at one place, without a done in between, in one run', () => {
  const streak = (...lines: [number, string, object][]) => fold([0, 'r', STARTED], ...lines).streakOf('make');
  const two = [...failed('a', 'step 1'), ...failed('b', 'step 1')];
  expect(streak(...two)).toEqual({ failurePoint: 'step 1', failures: 2 });
  expect(streak(...two, ...failed('c', 'step 2'))).toEqual({ failurePoint: 'step 2', failures: 1 });
  expect(streak(...two, done('c'))).toBeUndefined();
  expect(streak(...two, ...failed('c', 'step 2', 'other'))).toEqual({ failurePoint: 'step 1', failures: 2 });
  // In a stream a verdict may be told before the end of its dev is recorded.
  const judged = (item: string): [number, string, object][] => [
    [1, 'r', { type: 'qa:finished', status: 'FAIL', task: 'make', item, failurePoint: 'working-dir' }],
    [1, 'r', { type: 'item:recorded', from: 'in_progress', to: 'qa', task: 'make', item }],
    [1, 'r', { type: 'item:recorded', from: 'qa', to: 'failed', task: 'make', item }],
  ];
  expect(streak(...judged('a'), ...failed('b', 'working-dir'))).toEqual({ failurePoint: 'working-dir', failures: 2 });
  const again = fold([0, 'r', STARTED], ...two, [2, 'r2', STARTED]);
  expect([again.streakOf('make'), again.failures]).toEqual([undefined, 0]);
});
