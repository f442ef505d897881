import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finalStatuses, holds, modeOf, modes, nextOf, nights, passes, settingsOf, shiftOf } from '../kit/nights.ts';
import { SimulatedShift } from '../kit/simulated-shift.ts';

const CONCURRENCY_CHANGES = ['concurrency:changed'];

test('M2 M3 M4 X7 a stream claims the first eligible items in row order, and never runs more than its concurrency', () =>
  holds([nights({ troubles: 1 }), modeOf('stream')], async (night, mode) => {
    const shift = shiftOf(night, settingsOf(mode));
    const { events } = await shift.run();
    const statuses = night.fates.map((row) => row.map(() => 'todo'));
    const running = () => statuses.flat().filter((status) => status === 'in_progress' || status === 'qa').length;
    let concurrency = Math.min(mode.size ?? 2, mode.max ?? 2 ** 30);
    for (const { type, task, index, indices, size, from, to } of events) {
      const column = night.tasks.indexOf(task);
      if (CONCURRENCY_CHANGES.includes(type)) {
        expect(from).toBe(concurrency);
        concurrency = to;
      }
      if (type === 'batch:claimed') {
        expect(size).toBe(concurrency);
        // A slot may be free a moment after its item has ended.
        const rooms = Array.from(
          { length: concurrency - running() - indices.length + 1 },
          (_, i) => indices.length + i,
        );
        const possible = rooms.map((room) => nextOf(statuses, room, mode.order));
        expect(possible).toContainEqual({ task: column, rows: indices });
        for (const row of indices) statuses[row]![column] = 'in_progress';
        expect(running()).toBeLessThanOrEqual(concurrency);
      }
      if (type === 'item:recorded') statuses[index]![column] = to;
      if (type === 'item:returned' && statuses[index]![column] === 'in_progress') statuses[index]![column] = 'todo';
    }
    expect(shift.statuses).toEqual(finalStatuses(night));
  }));

test('X7 a free slot is refilled at once: a night takes as long as a list schedule does', () =>
  holds(
    [fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 5 })],
    async (times, slots) => {
      const shift = new SimulatedShift({
        rows: times.length,
        settings: { parallel: true, dispatch: 'stream', 'current-batch-size': slots, 'max-batch-size': slots },
        play: ({ role, item }) => (role === 'dev' ? { ms: times[item.index]! } : {}),
      });
      const { ms } = await shift.run();
      const ends = Array<number>(slots).fill(0);
      for (const time of times) {
        const first = ends.indexOf(Math.min(...ends));
        ends[first]! += time;
      }
      expect(ms).toBe(Math.max(...ends));
    },
  ));

test('P2 X7 concurrency: doubles if at most a fifth failed, halves if half did or after trouble, within 1 and its maximum', () =>
  holds([nights({ troubles: 1 }), modeOf('stream')], async (night, mode) => {
    const shift = shiftOf(night, settingsOf(mode));
    const { events } = await shift.run();
    for (const { type, from, to, reason } of events) {
      if (!CONCURRENCY_CHANGES.includes(type)) continue;
      const up = /^(\d+) of (\d+) done$/.exec(reason);
      const down = /^(\d+) of (\d+) failed$/.exec(reason);
      const wanted = up ? from * 2 : Math.max(1, Math.floor(from / 2));
      expect(to).toBe(Math.min(wanted, mode.max ?? 2 ** 30));
      if (up) expect([Number(up[2]), Number(up[1]) / Number(up[2]) >= 0.8]).toEqual([from, true]);
      else if (down) expect(Number(down[1])).toBeGreaterThanOrEqual(from / 2);
      else expect(reason).toBe('1 given back: rate limit');
    }
  }));

test('M4 P2 X7 one at a time, in batches and in a stream: the same statuses at the end, and the same exit code', () =>
  holds([nights({ troubles: 1 }), fc.tuple(modes, modes)], async (night, both) => {
    const ends = both.map(async (mode) => {
      const shift = shiftOf(night, settingsOf(mode));
      const { end } = await shift.run();
      return { statuses: shift.statuses, exitCode: end?.exitCode };
    });
    const exitCode = night.fates.flat().length > 0 && finalStatuses(night).flat().includes('failed') ? 3 : 0;
    const expected = { statuses: finalStatuses(night), exitCode };
    expect(await Promise.all(ends)).toEqual([expected, expected]);
    expect(night.fates.every((row) => row.every(passes))).toBe(exitCode === 0);
  }));
