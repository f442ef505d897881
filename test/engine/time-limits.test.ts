import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finalStatuses, holds, modes, nights, settingsOf, shiftOf } from '../kit/nights.ts';
import { type SimulatedRun, SimulatedShift } from '../kit/simulated-shift.ts';

/** Longer than every limit. */
const PAUSE_MS = 30_000;
const seconds = fc.integer({ min: 1, max: 12 });

function timeOf({ events }: SimulatedRun, type: string): number | undefined {
  const event = events.find((each) => each.type === type);
  return event && Date.parse(event.at);
}

/** How long a run was paused with nothing running. */
function heldMs(run: SimulatedRun, shift: SimulatedShift): number {
  const [paused, resumed] = [timeOf(run, 'run:paused'), timeOf(run, 'run:resumed')];
  if (paused === undefined || resumed === undefined) return 0;
  const ends = shift.work.map(({ to }) => to!).filter((to) => to <= resumed);
  return resumed - Math.max(paused, ...ends);
}

test('X6 max-duration: a pause with nothing running does not count, however long, in this run or the next', () =>
  holds([nights(), modes, seconds, fc.nat(9000), fc.boolean()], async (night, mode, limit, at, now) => {
    const final = finalStatuses(night);
    const shift = shiftOf(night, { ...settingsOf(mode), 'max-duration': `${limit}s` });
    const run = await shift.run({ pause: { at, ms: PAUSE_MS, now } });
    const begun = Date.parse(run.events[0].at);
    const over = begun + limit * 1000 + heldMs(run, shift);
    expect(shift.work.filter(({ role, from }) => role === 'dev' && from > over)).toEqual([]);
    const isLeft = shift.statuses.flat().join() !== final.flat().join();
    expect(run.end?.exitCode).toBe(isLeft ? 4 : final.flat().includes('failed') ? 3 : 0);
    // Not a moment too early.
    if (isLeft) expect(begun + run.ms).toBeGreaterThanOrEqual(over);
    const works = shift.work.length;
    if (isLeft) expect([(await shift.run()).end?.exitCode, shift.work.length]).toEqual([4, works]);
    await shift.run({ settings: { 'max-duration': `${limit + 3600}s` } });
    expect(shift.statuses).toEqual(final);
  }));

const ITEM_MS = 10_000;

/** Simulated nights start at midnight UTC; `until` is in local time. */
function localMinute(time: number): string {
  const date = new Date(time);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

test('X6 X7 until: in every mode nothing starts after it, what runs is finished, and a pause moves nothing', () =>
  holds([modes, fc.nat(59), fc.nat(120), fc.boolean()], async (mode, at, length, now) => {
    const start = Date.UTC(2026, 0, 1);
    const until = start + 60_000;
    const shift = new SimulatedShift({
      rows: 40,
      // Few enough at once that work is left.
      settings: { ...settingsOf({ max: 4, ...mode }), until: localMinute(until) },
      play: ({ role }) => ({ ms: role === 'dev' ? ITEM_MS : 10 }),
    });
    const run = await shift.run({ pause: { at: at * 1000, ms: length * 1000, now } });
    expect([run.end?.exitCode, run.end?.reason]).toEqual([4, expect.stringMatching(/^until .* is over$/)]);
    expect(shift.work.filter(({ role, from }) => role === 'dev' && from > until)).toEqual([]);
    // A pause at once may leave an item at its qa.
    const left = shift.statuses.flat().filter((status) => status !== 'done' && !(now && status === 'qa'));
    expect(left.filter((status) => status !== 'todo')).toEqual([]);
    if (!now) expect(run.events.filter(({ type }) => type === 'item:returned')).toEqual([]);
    const end = start + run.ms;
    expect(end).toBeGreaterThanOrEqual(until);
    // One item for each slot, and one qa after the other.
    expect(end).toBeLessThan(until + ITEM_MS + 1000);
  }));
