import { setImmediate as later } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { FreezeWatch } from './freeze-watch.ts';

function watched() {
  const told: string[] = [];
  const clock = { now: 0 };
  let end = () => {};
  const confirm = () => {
    told.push('asked');
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  };
  const watch = new FreezeWatch(confirm, () => clock.now);
  const begin = () => watch.confirmed().then(() => told.push('begun'));
  return { told, clock, watch, begin, end: () => end() };
}

test('after the process stood still, nothing begins before its orders are confirmed', async () => {
  const { told, clock, watch, begin, end } = watched();
  using _watch = watch;
  clock.now += 2000;
  await begin();
  expect(told.splice(0)).toEqual(['begun']);

  clock.now += 2001;
  const begun = [begin(), begin()];
  await later();
  expect(told).toEqual(['asked']);
  end();
  await Promise.all(begun);
  expect(told).toEqual(['asked', 'begun', 'begun']);
});

test('also if it stood still between a question to the database and its answer', async () => {
  const { told, clock, watch, begin, end } = watched();
  using _watch = watch;
  watch.doubtSince(clock.now);
  await begin();
  expect(told.splice(0)).toEqual(['begun']);

  watch.doubtSince(clock.now - 2001);
  const begun = begin();
  await later();
  expect(told).toEqual(['asked']);
  end();
  await begun;
  expect(told).toEqual(['asked', 'begun']);
});

test('also if the machine slept: other clocks than that of the system stand still then', async () => {
  let isAsked = false;
  using watch = new FreezeWatch(async () => {
    isAsked = true;
  });
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3000);
  await watch.confirmed();
  vi.restoreAllMocks();
  expect(isAsked).toBe(true);
});
