import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NightshiftError } from '../../src/core/model/errors.ts';
import { finalStatuses, holds, modes, type Night, nights, settingsOf, shiftOf } from '../kit/nights.ts';
import { type SimulatedRun, SimulatedShift } from '../kit/simulated-shift.ts';

/** Not at the start itself: a run reads all files before it begins. */
const moment = fc.integer({ min: 1, max: 6000 });
const file = fc.constantFrom('table' as const, 'manifest' as const);
const PATIENCE = { patience: '20s' };

function startOf({ events }: SimulatedRun): number {
  return Date.parse(events[0].at);
}

function warnings({ events }: SimulatedRun): string[] {
  return events.filter(({ type }) => type === 'run:warning').map(({ message }) => message);
}

/** Each order was carried out once: no result was lost. */
function expectNothingTwice(shift: SimulatedShift): void {
  const names = shift.work.map(({ role, task, row }) => `${role} ${task} ${row}`);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
}

/** What ran when the file broke has its result in the table; later a run does the rest. */
async function expectResumes(shift: SimulatedShift, night: Night): Promise<void> {
  expect(shift.statuses.flat()).not.toContain('in_progress');
  await shift.run();
  expect(shift.statuses).toEqual(finalStatuses(night));
  expectNothingTwice(shift);
}

test('F6 a file that is repaired in time: nothing new starts before that, nothing is lost, and the run continues', () =>
  holds([nights(), modes, file, moment, moment], async (night, mode, of, at, ms) => {
    const shift = shiftOf(night, { ...settingsOf(mode), ...PATIENCE });
    const run = await shift.run({ outage: { of, at, ms } });
    expect(run.end?.exitCode).toBe(finalStatuses(night).flat().includes('failed') ? 3 : 0);
    expect(shift.statuses).toEqual(finalStatuses(night));
    expectNothingTwice(shift);
    const from = startOf(run) + at;
    const isOut = (time: number) => time > from && time < from + ms;
    expect(shift.work.filter((work) => work.role === 'dev' && isOut(work.from))).toEqual([]);
    const told = warnings(run);
    expect(told.filter((message) => /nothing new is started until/.test(message))).toHaveLength(told.length / 2);
    expect(told.filter((message) => /can be read again: the run continues/.test(message))).toHaveLength(
      told.length / 2,
    );
  }));

test('F6 X8 a run that is stopped before it could read its table ends as stopped, and a later one does everything', () =>
  holds([nights(), modes, fc.integer({ min: 1, max: 900 })], async (night, mode, drainAt) => {
    const shift = shiftOf(night, { ...settingsOf(mode), ...PATIENCE });
    const run = await shift.run({ outage: { of: 'table', at: 0, ms: 10_000 }, drainAt });
    expect([run.error, run.end?.exitCode]).toEqual([undefined, 130]);
    expect(shift.work).toEqual([]);
    await expectResumes(shift, night);
  }));

test('F6 a file that stays unreadable longer than the patience: what runs is finished and recorded, and the run ends', () =>
  holds([nights(), modes, file, moment], async (night, mode, of, at) => {
    const shift = shiftOf(night, { ...settingsOf(mode), patience: '1s' });
    const run = await shift.run({ outage: { of, at, ms: Number.POSITIVE_INFINITY } });
    if (run.end) expect(shift.statuses).toEqual(finalStatuses(night));
    else expect(run.error).toBeInstanceOf(NightshiftError);
    if (run.error && shift.work.some(({ to }) => to! > startOf(run) + at && of === 'table')) {
      expect(run.error).toMatchObject({
        hint: expect.stringContaining('was restored'),
        file: '/r/f/table.csv.put-back',
      });
    }
    await expectResumes(shift, night);
  }));

test('F6 a stop during an outage: what runs is recorded, without an error, and without waiting for the patience', () =>
  holds([nights(), modes, file, moment, moment], async (night, mode, of, at, later) => {
    const shift = shiftOf(night, { ...settingsOf(mode), patience: '1h' });
    const run = await shift.run({ outage: { of, at, ms: Number.POSITIVE_INFINITY }, drainAt: at + later });
    expect(run.error).toBeUndefined();
    const ends = shift.work.map(({ to }) => to! - startOf(run));
    expect(run.ms).toBeLessThan(Math.max(at + later, ...ends) + 20_000);
    await expectResumes(shift, night);
  }));

test('F6 T5 a stop at once during an outage is not an error, and the next run does the rest', () =>
  holds([nights(), modes, file, moment], async (night, mode, of, at) => {
    const shift = shiftOf(night, { ...settingsOf(mode), patience: '1h' });
    const { error } = await shift.run({
      outage: { of, at, ms: Number.POSITIVE_INFINITY },
      drainAt: at + 100,
      stopAt: at + 200,
    });
    expect(error).toBeUndefined();
    await shift.run();
    expect(shift.statuses).toEqual(finalStatuses(night));
  }));

test.each([
  ['recorded', {}],
  ['delivered', { workspace: 'worktree', deliver: 'branch' }],
])('F6 W9 nothing is %s as passed before the table says that its dev has passed', async (_, more) => {
  const settings = { dispatch: 'stream', parallel: true, ...more };
  const shift = new SimulatedShift({ rows: 2, isChecked: true, settings, play: () => ({ ms: 1000 }) });
  // The table can be written again when the dev waits for it since long, and its verdict since a moment.
  const run = await shift.run({ outage: { of: 'table', at: 500, ms: 5000 } });
  expect(shift.deliveries).toEqual('deliver' in more ? ['qa', 'qa'] : []);
  expect([run.end?.exitCode, shift.statuses]).toEqual([0, [['done'], ['done']]]);
  expectNothingTwice(shift);
});
