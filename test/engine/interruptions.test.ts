import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finalStatuses, holds, type Mode, modes, nights, settingsOf, shiftOf } from '../kit/nights.ts';
import type { RunOptions, SimulatedRun, SimulatedShift } from '../kit/simulated-shift.ts';

const moment = fc.integer({ min: 0, max: 6000 });
const isLeft = (shift: SimulatedShift, final: string[][]) => shift.statuses.flat().join() !== final.flat().join();

/** In the table, each item-task got each result once, whatever came in between. */
function expectEachOnce(shift: SimulatedShift): void {
  const names = shift.writes.map(({ task, row, to }) => `${task} ${row} ${to}`);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
}

/** Rule T2: a dev has a claim, and a qa an item whose dev succeeded, both in the table when they begin. */
function expectClaimed(shift: SimulatedShift): void {
  for (const { role, status } of shift.work) expect(status).toBe(role === 'dev' ? 'in_progress' : 'qa');
}

test('X6 drain at any moment: what runs is finished and judged, nothing new starts, and the next run does the rest', () =>
  holds([nights(), modes, moment], async (night, mode, drainAt) => {
    const final = finalStatuses(night);
    const shift = shiftOf(night, settingsOf(mode));
    const { end, events } = await shift.run({ drainAt });
    const from = Date.parse(events[0].at);
    expect(shift.statuses.flat().filter((status) => status === 'in_progress' || status === 'qa')).toEqual([]);
    expect(events.filter(({ type }) => type === 'item:returned')).toEqual([]);
    expect(shift.work.filter((work) => work.role === 'dev' && work.from > from + drainAt)).toEqual([]);
    const finished = final.flat().includes('failed') ? 3 : 0;
    expect(end?.exitCode).toBe(isLeft(shift, final) ? 130 : finished);
    expect((await shift.run()).end?.exitCode).toBe(finished);
    expect(shift.statuses).toEqual(final);
    expectEachOnce(shift);
    expectClaimed(shift);
  }));

test('T5 X6 stop at any moment: the run ends at once, nothing fails by it, and the next run does the rest', () =>
  holds([nights(), modes, moment], async (night, mode, at) => {
    const final = finalStatuses(night);
    const shift = shiftOf(night, settingsOf(mode));
    const { end, ms } = await shift.run({ drainAt: at, stopAt: at });
    expect(ms).toBeLessThanOrEqual(at);
    expect(shift.statuses.flat()).not.toContain('in_progress');
    const finished = final.flat().includes('failed') ? 3 : 0;
    expect(end?.exitCode).toBe(isLeft(shift, final) ? 130 : finished);
    await shift.run();
    expect(shift.statuses).toEqual(final);
    expectEachOnce(shift);
    expectClaimed(shift);
  }));

test('X6 pause at any moment, at once or after what runs: nothing starts until it is resumed, and then all is done', () =>
  holds([nights(), modes, moment, moment, fc.boolean()], async (night, mode, at, length, now) => {
    const final = finalStatuses(night);
    const shift = shiftOf(night, settingsOf(mode));
    const { end, events } = await shift.run({ pause: { at, ms: length, now } });
    const from = Date.parse(events[0].at) + at;
    const isPaused = (time: number) => time > from && time < from + length;
    expect(shift.work.filter((work) => isPaused(work.from) && (now || work.role === 'dev'))).toEqual([]);
    if (now) expect(shift.work.filter((work) => isPaused(work.to!))).toEqual([]);
    else expect(events.filter(({ type }) => type === 'item:returned')).toEqual([]);
    expect([shift.statuses, end?.exitCode]).toEqual([final, final.flat().includes('failed') ? 3 : 0]);
    expectEachOnce(shift);
    expectClaimed(shift);
  }));

interface Life {
  readonly mode: Mode;
  readonly diesAt: number;
  readonly losesUnflushed: boolean;
}

const lives: fc.Arbitrary<Life[]> = fc.array(
  fc.record({ mode: modes, diesAt: fc.integer({ min: 1, max: 250 }), losesUnflushed: fc.boolean() }),
  { minLength: 1, maxLength: 4 },
);

/** Rules T5 and P8: a run first gives back what was in progress, then judges what waits, then begins something new. */
async function resume(shift: SimulatedShift, options: RunOptions): Promise<SimulatedRun> {
  const before = shift.statuses;
  const count = (status: string) => before.flat().filter((each) => each === status).length;
  const works = shift.work.length;
  const run = await shift.run(options);
  const started = run.events.find(({ type }) => type === 'run:started');
  if (started) expect(started).toMatchObject({ recovered: count('in_progress'), waiting: count('qa') });
  const begun = shift.work.slice(works);
  const firstDev = begun.findIndex(({ role }) => role === 'dev');
  const judged = begun.slice(0, firstDev < 0 ? begun.length : firstDev).map(({ task, row }) => `${task} ${row}`);
  const waiting = before.flatMap((row, i) =>
    shift.tasks.filter((_, j) => row[j] === 'qa').map((task) => `${task} ${i}`),
  );
  if (firstDev >= 0) expect(judged.sort()).toEqual(waiting.sort());
  return run;
}

test('T2 T5 P8 X7 killed at any moment, as often as you like: nothing is lost, nothing is done twice', () =>
  holds([nights(), lives, modes], async (night, killed, last) => {
    const shift = shiftOf(night, settingsOf(last));
    for (const { mode, ...options } of killed) await resume(shift, { ...options, settings: settingsOf(mode) });
    const { end, history } = await resume(shift, {});
    expect(shift.statuses).toEqual(finalStatuses(night));
    expect(end?.exitCode).toBe(shift.statuses.flat().includes('failed') ? 3 : 0);
    expectEachOnce(shift);
    expectClaimed(shift);
    // Every order costs a dollar. What the journal keeps counts once; each result in the table was paid for before.
    const paid = shift.work.filter(({ to }) => to !== undefined).length;
    const counted = history.usage.costUsd ?? 0;
    expect(counted).toBe(shift.journal.filter(({ type }) => type === 'usage:spent').length);
    expect(counted).toBeGreaterThanOrEqual(shift.writes.length);
    if (!killed.some(({ losesUnflushed }) => losesUnflushed)) expect(counted).toBeGreaterThanOrEqual(paid);
  }));
