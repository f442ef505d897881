import { expect, test } from 'vitest';
import { Together } from './together.ts';

test('T3 who asks while it is under way waits for the next time, and shares it; a failure is told to those who shared it', async () => {
  const ends: ((error?: Error) => void)[] = [];
  const work = new Together(
    () =>
      new Promise((resolve, reject) => {
        ends.push((error) => (error ? reject(error) : resolve()));
      }),
  );
  const first = work.done();
  await Promise.resolve();
  const later = [work.done(), work.done()];
  expect([ends.length, later[0] === later[1]]).toEqual([1, true]);
  ends[0]!(new Error('no room'));
  await expect(first).rejects.toThrow('no room');
  expect(ends.length).toBe(2);
  ends[1]!();
  await Promise.all(later);
});
