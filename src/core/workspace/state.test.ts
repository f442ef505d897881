import { expect, test } from 'vitest';
import { removalOf, standingOf, type WorkspaceFacts } from './state.ts';

const CHANGED: WorkspaceFacts = { isWorking: false, hasFolder: true, isReady: true, row: 'done', isChanged: true };
const DONE = { state: 'done', isCurrent: true } as const;

/** What is the case; its state; what `prune` does, with a reason. */
test.each<[string, Partial<WorkspaceFacts>, string, string]>([
  ['an agent works', { isWorking: true }, 'working', 'keep: an agent works in it'],
  ['it is set up now', { isWorking: true, isReady: false }, 'preparing', 'keep: an agent works in it'],
  [
    'a killed run left it half made',
    { isReady: false },
    'preparing: the run ended before it was ready',
    'remove: no agent has worked in it',
  ],
  [
    'a killed prune left it half removed',
    { isRemoving: true },
    'gone: its removal was interrupted',
    'remove: its removal was interrupted',
  ],
  ['delivered', { delivery: DONE }, 'delivered', 'remove: delivered'],
  [
    'delivered, then removed',
    { delivery: DONE, hasFolder: false },
    'delivered: its folder is removed',
    'remove: delivered',
  ],
  [
    'changed after its delivery',
    { delivery: { ...DONE, isCurrent: false } },
    'kept: changed since it was delivered',
    'keep: it was changed after it was delivered',
  ],
  [
    'delivered to a branch of the clone itself',
    { delivery: { ...DONE, isOnlyHere: true } },
    'delivered: its branch is only here',
    'keep: its branch is only here',
  ],
  ['held', { delivery: { state: 'held', isCurrent: true } }, 'held', 'keep: it waits for approval'],
  [
    'held, then removed',
    { delivery: { state: 'held', isCurrent: true }, hasFolder: false },
    'held: its folder is removed',
    'keep: it waits for approval',
  ],
  [
    'a crash during its delivery',
    { delivery: { state: 'intended', isCurrent: true } },
    'kept: its delivery was interrupted; the next start finishes it',
    'keep: its delivery was interrupted; the next start finishes it',
  ],
  [
    'its delivery failed',
    { delivery: { state: 'failed', reason: 'no network', isCurrent: true } },
    'kept: its delivery failed: no network',
    'keep: its change is not delivered',
  ],
  ['deliver: none', {}, 'kept: not delivered', 'keep: its change is not delivered'],
  ['unfinished', { row: 'unfinished' }, 'kept: its row is not finished', 'keep: its change is not delivered'],
  ['failed', { row: 'failed' }, 'kept: its row failed', 'keep: its change is not delivered'],
  ['failed at once', { row: 'failed', isChanged: false }, 'kept: its row failed', 'remove: nothing has changed'],
  [
    'failed after an earlier try',
    { row: 'failed', isChanged: false, hasEarlier: true },
    'kept: its row failed',
    'keep: nothing has changed, but it keeps what an earlier try left',
  ],
  ['of a test', { row: 'test' }, 'kept: left by `test-task`', 'remove: left by `test-task`'],
  ['its row is gone', { row: 'gone' }, 'kept: its row is gone', 'keep: its change is not delivered'],
  [
    'removed by hand',
    { hasFolder: false },
    'gone: removed by hand',
    'keep: its change is not delivered, and its folder is gone',
  ],
  ['unreadable', { isChanged: undefined }, "kept: what it holds can't be read", "keep: what it holds can't be read"],
])('W7 %s', (_, facts, standing, removal) => {
  const { state, why } = standingOf({ ...CHANGED, ...facts });
  expect(why === undefined ? state : `${state}: ${why}`).toBe(standing);
  const { isSafe, why: reason } = removalOf({ ...CHANGED, ...facts }, undefined);
  expect(`${isSafe ? 'remove' : 'keep'}: ${reason}`).toBe(removal);
});

test('W7 a change that is in a branch may go, unless an agent works there or its delivery is under way', () => {
  const inMain = { kind: 'arrived', branch: 'main' } as const;
  const safe = (facts: Partial<WorkspaceFacts>) => removalOf({ ...CHANGED, ...facts }, inMain).isSafe;
  expect(removalOf(CHANGED, inMain)).toEqual({ isSafe: true, why: 'its change is in main' });
  expect(removalOf(CHANGED, { kind: 'unknown', why: 'no answer' })).toEqual({
    isSafe: false,
    why: 'its change is not delivered; no answer',
  });
  expect(safe({ row: 'failed' })).toBe(true);
  expect(safe({ isWorking: true })).toBe(false);
  expect(safe({ isChanged: undefined })).toBe(false);
  expect(safe({ delivery: { state: 'intended', isCurrent: true } })).toBe(false);
});
