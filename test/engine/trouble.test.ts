import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finalStatuses, holds, modes, nights, settingsOf, shiftOf } from '../kit/nights.ts';
import { SimulatedShift } from '../kit/simulated-shift.ts';

const few = fc.integer({ min: 1, max: 10 });

test('X5 Q4 trouble that passes fails nothing and uses nothing up: the run waits, and ends as without it', () =>
  holds([nights({ troubles: 2, most: 5 }), modes], async (night, mode) => {
    const final = finalStatuses(night);
    const shift = shiftOf(night, { ...settingsOf(mode), patience: '1h' });
    const { end, events } = await shift.run();
    expect(shift.statuses).toEqual(final);
    expect(end?.exitCode).toBe(final.flat().includes('failed') ? 3 : 0);
    // A qa that met trouble leaves its item at `qa`: the dev is not asked again.
    const dones = shift.writes.filter(({ to }) => to === 'qa').map(({ task, row }) => `${task} ${row}`);
    expect(new Set(dones).size).toBe(dones.length);
    const troubles = events.filter(({ type }) => type === 'item:returned');
    if (troubles.length > 0) expect(events.some(({ type }) => type === 'run:waiting')).toBe(true);
  }));

test('X5 trouble of all that does not pass: growing pauses, each item has its turn, none fails, exit code 4 after `patience`', () =>
  holds([fc.integer({ min: 1, max: 5 }), modes, few, fc.boolean()], async (rows, mode, minutes, isRequested) => {
    const shift = new SimulatedShift({
      rows,
      settings: { ...settingsOf(mode), patience: `${minutes}m` },
      play: () => ({ ms: 10, end: { reason: 'no network', ...(isRequested && { isRequested }) } }),
    });
    const { end, events, ms } = await shift.run();
    expect([end?.exitCode, end?.reason]).toEqual([4, expect.stringContaining('no network')]);
    expect(shift.statuses).toEqual(Array(rows).fill(['todo']));
    const turns = new Set(shift.work.map(({ row }) => row)).size;
    if (isRequested) expect(turns).toBe(Math.min(rows, shift.work.length));
    const waits = events.filter(({ type }) => type === 'run:waiting').map((event) => event.ms as number);
    expect(waits.every(Number.isInteger)).toBe(true);
    const growing = waits.slice(0, -1);
    expect(growing).toEqual([...growing].sort((a, b) => a - b));
    expect(ms).toBeGreaterThanOrEqual(minutes * 60_000);
    expect(ms).toBeLessThan(minutes * 60_000 + 60_000);
  }));

test('X5 trouble that only a person can end stops the run at once with exit code 6, and says what to do', () =>
  holds([nights({ most: 4 }), modes], async (night, mode) => {
    const shift = new SimulatedShift({
      rows: night.fates.length,
      settings: settingsOf(mode),
      play: ({ item }) => ({
        ms: night.fates[item.index]![0]!.devMs,
        end: { reason: 'not logged in', remedy: 'log in' },
      }),
    });
    const { end } = await shift.run();
    expect(end).toMatchObject({ exitCode: 6, reason: 'not logged in: log in' });
    expect(shift.statuses).toEqual(night.fates.map(() => ['todo']));
    expect(new Set(shift.work.map(({ from }) => from)).size).toBe(1);
  }));

test('X5 a quota that says when to come back is waited for, to the moment', () =>
  holds([fc.integer({ min: 1, max: 6 }), modes, fc.integer({ min: 1, max: 300_000 })], async (rows, mode, wait) => {
    let until = 0;
    const shift = new SimulatedShift({
      rows,
      settings: { ...settingsOf(mode), patience: '1m' },
      play: () => {
        const now = shift.work.at(-1)!.from;
        until ||= now + wait;
        return now < until ? { end: { reason: 'usage limit', until } } : {};
      },
    });
    const { end } = await shift.run();
    expect([end?.exitCode, shift.statuses]).toEqual([0, Array(rows).fill(['done'])]);
    const later = shift.work.filter(({ from }) => from >= until);
    expect(later[0]!.from).toBe(until);
    expect(shift.work.filter(({ from }) => from > until - wait && from < until)).toEqual([]);
  }));

test('X5 an item that always asks to try later gives way to the others, and is failed the third time', () =>
  holds([fc.integer({ min: 4, max: 9 }), fc.nat(), modes], async (rows, choice, mode) => {
    const stubborn = choice % rows;
    const shift = new SimulatedShift({
      rows,
      settings: { ...settingsOf(mode), patience: '10m' },
      play: ({ role, item }) =>
        role === 'dev' && item.index === stubborn
          ? { ms: 5, end: { reason: 'try later', isRequested: true } }
          : { ms: 50 },
    });
    const { end } = await shift.run();
    const expected = Array.from({ length: rows }, (_, row) => [row === stubborn ? 'failed' : 'done']);
    // Where the others were done before it could count, it is trouble of all, and the run gives up.
    if (end?.exitCode === 3) expect(shift.statuses).toEqual(expected);
    else
      expect([end?.exitCode, shift.statuses.flat().filter((status) => status === 'done').length]).toEqual([
        4,
        rows - 1,
      ]);
    expect(shift.work.filter(({ role, row }) => role === 'dev' && row !== stubborn)).toHaveLength(rows - 1);
  }));
