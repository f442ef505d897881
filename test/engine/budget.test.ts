import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finalStatuses, holds, modes, nights, settingsOf, shiftOf } from '../kit/nights.ts';
import { lognormal, randomFrom } from '../kit/random.ts';
import { SimulatedShift } from '../kit/simulated-shift.ts';

const few = fc.integer({ min: 1, max: 12 });

/** A run ended by a limit leaves what the next one, without it, does. */
async function expectRest(shift: SimulatedShift, final: string[][]): Promise<void> {
  expect(shift.statuses.flat()).not.toContain('in_progress');
  await shift.run({ settings: { 'max-cost': 'none', 'max-duration': 'none', 'max-failures': 'none' } });
  expect(shift.statuses).toEqual(final);
}

test('X6 max-cost: nobody is asked once it is used up, what runs may finish, and money counts in all runs', () =>
  holds([nights(), modes, few], async (night, mode, cost) => {
    const final = finalStatuses(night);
    const shift = shiftOf(night, { ...settingsOf(mode), 'max-cost': cost });
    const { end, history } = await shift.run();
    // Every order costs a dollar, which is known when it ends.
    for (const { from } of shift.work) expect(shift.work.filter(({ to }) => to! < from).length).toBeLessThan(cost);
    const isLeft = shift.statuses.flat().join() !== final.flat().join();
    expect(end?.exitCode).toBe(isLeft ? 4 : final.flat().includes('failed') ? 3 : 0);
    if (isLeft)
      expect([history.usage.costUsd! >= cost, end?.reason]).toEqual([true, expect.stringContaining('max-cost')]);
    const works = shift.work.length;
    if (isLeft) expect([(await shift.run()).end?.exitCode, shift.work.length]).toEqual([4, works]);
    await expectRest(shift, final);
    expect(shift.journal.filter(({ type }) => type === 'usage:spent')).toHaveLength(shift.work.length);
  }));

test('X6 max-duration: nothing starts after it, what runs is finished, and it counts the time of all runs', () =>
  holds([nights(), modes, few], async (night, mode, seconds) => {
    const final = finalStatuses(night);
    const shift = shiftOf(night, { ...settingsOf(mode), 'max-duration': `${seconds}s` });
    const { end, events } = await shift.run();
    const over = Date.parse(events[0].at) + seconds * 1000;
    expect(shift.work.filter(({ role, from }) => role === 'dev' && from > over)).toEqual([]);
    expect(events.filter(({ type }) => type === 'item:returned')).toEqual([]);
    const isLeft = shift.statuses.flat().join() !== final.flat().join();
    expect(end?.exitCode).toBe(isLeft ? 4 : final.flat().includes('failed') ? 3 : 0);
    const works = shift.work.length;
    if (isLeft) expect([(await shift.run()).end?.exitCode, shift.work.length]).toEqual([4, works]);
    await expectRest(shift, final);
  }));

test('X6 max-failures: nothing is claimed after so many failures in a run', () =>
  holds([nights(), modes, fc.integer({ min: 1, max: 4 })], async (night, mode, most) => {
    const final = finalStatuses(night);
    const shift = shiftOf(night, { ...settingsOf(mode), 'max-failures': most });
    const { end, events } = await shift.run();
    let failures = 0;
    for (const { type, to } of events) {
      if (type === 'item:recorded' && to === 'failed') failures++;
      if (type === 'batch:claimed') expect(failures).toBeLessThan(most);
    }
    const isLeft = shift.statuses.flat().join() !== final.flat().join();
    expect(end?.exitCode).toBe(isLeft ? 4 : final.flat().includes('failed') ? 3 : 0);
    await expectRest(shift, final);
  }));

test('X6 max-same-failures: a task whose items fail one after the other at the same place is paused, the others go on', () =>
  holds([few, fc.integer({ min: 1, max: 5 })], async (rows, most) => {
    const shift = new SimulatedShift({
      rows: rows + most,
      tasks: ['draft', 'build'],
      settings: { parallel: true, 'max-batch-size': 1, 'max-same-failures': most },
      play: ({ task, role }) => ({ end: task === 'build' && role === 'dev' ? 'fail' : 'pass' }),
    });
    const { end, events } = await shift.run();
    expect(shift.statuses).toEqual([...Array(most).fill(['done', 'failed']), ...Array(rows).fill(['done', 'todo'])]);
    expect(events.filter(({ type }) => type === 'task:paused')).toHaveLength(1);
    expect([end?.exitCode, end?.reason]).toEqual([
      4,
      expect.stringContaining(`${most} in a row failed at the same point`),
    ]);
  }));

/** The second takes some 15 seconds. */
const SLOTS = process.env.NIGHTSHIFT_RUNS === undefined ? [100] : [100, 400];

test.each(SLOTS)(
  'X6 %i items that run together stay within max-cost: each reserves what items have cost so far',
  async (slots) => {
    const random = randomFrom(1);
    const costs = Array.from({ length: slots * 10 }, () => lognormal(random, 1, 0.8));
    const max = Math.round(costs.slice(0, slots * 6).reduce((sum, cost) => sum + cost));
    const shift = new SimulatedShift({
      rows: costs.length,
      settings: { parallel: true, dispatch: 'stream', 'max-batch-size': slots, 'max-cost': max },
      isChecked: true,
      play: ({ role, item }) => (role === 'dev' ? { ms: 1000 * costs[item.index]!, costUsd: costs[item.index]! } : {}),
    });
    const { end, events, history } = await shift.run();
    expect(events.some(({ type, size }) => type === 'batch:claimed' && size === slots)).toBe(true);
    expect(end).toMatchObject({ exitCode: 4, reason: expect.stringContaining('max-cost is used up') });
    expect(history.usage.costUsd! / max).toBeGreaterThanOrEqual(1);
    expect(history.usage.costUsd! / max).toBeLessThan(1.02);
    const warnings = events.filter(({ type }) => type === 'run:warning').map(({ message }) => message);
    expect(warnings).toEqual([expect.stringContaining('fewer items start now')]);
  },
);
