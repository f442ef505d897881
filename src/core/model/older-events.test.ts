import { expect, test } from 'vitest';
import { History } from '../folds/history.ts';
import { withCurrentNames } from './older-events.ts';

const STAMP = { at: '2026-11-15T21:24:03.342Z', run: 'r', seq: 20, shift: 's' };

test('X7 a journal that says `limit:changed` is read as `concurrency:changed`; all other events stay as they are', () => {
  const line = { type: 'limit:changed', ...STAMP, from: 2, to: 4 };
  expect(withCurrentNames(line)).toEqual({ ...line, type: 'concurrency:changed' });
  for (const other of [{ type: 'usage:spent', place: 1 }, { type: 'constructor' }, 'text', null]) {
    expect(withCurrentNames(other)).toEqual(other);
  }
});

test('X6 D5 failure points and running items of older journals and checkpoints keep their meaning', () => {
  const finished = { type: 'dev:finished', ...STAMP, status: 'FAILED', attempts: 3, ms: 5, key: 'k' };
  const about = { task: 'make', item: 'i' };
  expect(withCurrentNames({ ...finished, ...about, place: 'step 2' })).toEqual({
    ...finished,
    ...about,
    failurePoint: 'step 2',
  });
  const edit = { file: 'make.md', what: 'Steps' };
  const items = [{ task: 'make', index: 0 }];
  expect(withCurrentNames({ type: 'edit:reverted', ...edit, inFlight: items })).toEqual({
    type: 'edit:reverted',
    ...edit,
    runningItems: items,
  });
  const checkpoint = {
    type: 'checkpoint:started',
    ...STAMP,
    usage: { costUsd: 3, place: 7 },
    tally: {
      ...{ failures: 1, run: 'r', startedAt: STAMP.at, lastAt: STAMP.at, earlierMs: 60_000 },
      streaks: [['make', { place: 'step 2', failures: 1 }]],
      places: [['make i', 'step 2']],
    },
    lastRun: { run: 'r', startedAt: STAMP.at, edits: [{ ...edit, inFlight: items }] },
  };
  const history = new History();
  history.read(withCurrentNames(checkpoint), true);
  expect(history.usage).toMatchObject({ costUsd: 3 });
  expect(history.tally.ms).toBe(60_000);
  expect(history.tally.streakOf('make')).toEqual({ failurePoint: 'step 2', failures: 1 });
  expect(history.tally.state().failurePoints).toEqual([['make i', 'step 2']]);
  expect(history.lastRun?.edits).toEqual([{ ...edit, runningItems: items }]);
});
