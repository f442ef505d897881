import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { WriteQueue } from './write-queue.ts';

test('T3 who comes while a slow write is held back for others shares it', async () => {
  const writes: string[][] = [];
  let late: Promise<unknown> | undefined;
  const change = (name: string) =>
    queue.add((draft) => {
      draft.push(name);
      return () => {};
    });
  const queue = new WriteQueue<string[]>({
    begin: async () => ({ draft: [], [Symbol.dispose]: () => {} }),
    write: async (draft) => {
      await sleep(20);
      writes.push(draft);
      return true;
    },
    isChanged: (draft) => draft.length > 0,
    isCurrent: () => true,
    expectsMoreThan: () => {
      late ??= new Promise(setImmediate).then(() => change('late'));
      return true;
    },
  });
  await change('slow');
  await change('early');
  await late;
  expect(writes).toEqual([['slow'], ['early', 'late']]);
});
