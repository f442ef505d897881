import { expect, test } from 'vitest';
import { isOverWhenDelivered, keyIn, whyUndeliverable, withKey } from './delivery.ts';

test.each([
  ['Subject', 'Subject\n\nNightshift-Key: k\n'],
  ['Fix: it', 'Fix: it\n\nNightshift-Key: k\n'],
  ['Subject\n\nBody.\n', 'Subject\n\nBody.\n\nNightshift-Key: k\n'],
  ['Subject\n\nSigned-off-by: A <a@b>\n', 'Subject\n\nSigned-off-by: A <a@b>\nNightshift-Key: k\n'],
  [' ', 'Nightshift\n\nNightshift-Key: k\n'],
])('W8 the message %j carries the key of its item', (message, expected) => {
  expect(withKey(message, 'k')).toBe(expected);
  expect(keyIn(withKey(message, 'k'))).toBe('k');
});

test('W8 a message without a key has none; the engine wrote the last one', () => {
  expect(keyIn('Subject\n\nNightshift-Key:\n')).toBeUndefined();
  expect(keyIn('Subject\n\nNightshift-Key: of a cell\n\nNightshift-Key: k\nChecked-by: hook\n')).toBe('k');
});

test('W8 a copy is delivered as a patch or not at all', () => {
  expect(whyUndeliverable('copy', 'patch')).toBeUndefined();
  expect(whyUndeliverable('copy', 'none')).toBeUndefined();
  expect(whyUndeliverable('copy', 'merge')).toContain('deliver: patch');
  expect(whyUndeliverable('clone', 'merge')).toBeUndefined();
});

test('W7 the workspace of a clone stays if its branch is nowhere else', () => {
  expect(isOverWhenDelivered('clone', 'branch')).toBe(false);
  expect(isOverWhenDelivered('worktree', 'none')).toBe(false);
  expect(isOverWhenDelivered('worktree', 'branch')).toBe(true);
  expect(isOverWhenDelivered('clone', 'push')).toBe(true);
});
