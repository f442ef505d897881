import { expect, test } from 'vitest';
import { hashSecrets, isHashOfSecrets } from './acceptances.ts';

test('D5 F7 a hash of `.env` proves its text and no other; a text that was proven is not hashed again', () => {
  const first = hashSecrets('KEY=one\n');
  const other = hashSecrets('KEY=two\n');
  expect([isHashOfSecrets(first, 'KEY=one\n'), isHashOfSecrets(first, 'KEY=two\n')]).toEqual([true, false]);
  expect([isHashOfSecrets(other, 'KEY=one\n'), isHashOfSecrets('', 'KEY=one\n')]).toEqual([false, false]);
  // A new hash would have another salt.
  expect(isHashOfSecrets(first, 'KEY=one\n')).toBe(true);
  expect(hashSecrets('KEY=one\n')).toBe(first);
});
