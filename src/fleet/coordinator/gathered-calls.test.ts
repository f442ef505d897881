import { expect, test } from 'vitest';
import { GatheredCalls } from './gathered-calls.ts';

test('what gathers during a call is one call, and a failure is only that of those who were in it', async () => {
  const calls: string[][] = [];
  let finish = () => {};
  const calling = new GatheredCalls<string>(async (all) => {
    calls.push([...all]);
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    if (all.includes('bad')) throw new Error('bad');
  });
  const begun = async (count: number) => {
    while (calls.length < count) await new Promise(setImmediate);
  };
  const first = calling.add(['a']);
  await begun(1);
  const others = [calling.add(['b']), calling.add(['bad', 'c'])].map((each) =>
    each.catch((error: Error) => error.message),
  );
  finish();
  await first;
  await begun(2);
  const last = calling.add(['d']);
  finish();
  expect(await Promise.all(others)).toEqual(['bad', 'bad']);
  await begun(3);
  finish();
  await last;
  expect(calls).toEqual([['a'], ['b', 'bad', 'c'], ['d']]);
});
