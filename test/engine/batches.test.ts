import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  finalStatuses,
  holds,
  type Mode,
  modeOf,
  modes,
  type Night,
  nextOf,
  nights,
  passes,
  settingsOf,
  shiftOf,
} from '../kit/nights.ts';
import type { SimulatedRun } from '../kit/simulated-shift.ts';

interface Claimed {
  readonly task: string;
  readonly indices: readonly number[];
  readonly size: number;
}

const claimedIn = ({ events }: SimulatedRun): Claimed[] =>
  events.filter(({ type }) => type === 'batch:claimed').map(({ task, indices, size }) => ({ task, indices, size }));

/** The batches of a night by rules M2-M4 and P1-P3, and the size after them. */
function expected(night: Night, { size: first = 2, max = 2 ** 30, order }: Mode): { batches: Claimed[]; size: number } {
  const statuses = night.fates.map((row) => row.map(() => 'todo'));
  const batches: Claimed[] = [];
  for (let size = Math.min(first, max); ; ) {
    const { task, rows } = nextOf(statuses, size, order);
    if (rows.length === 0) return { batches, size };
    batches.push({ task: night.tasks[task]!, indices: rows, size });
    for (const row of rows) statuses[row]![task] = passes(night.fates[row]![task]!) ? 'done' : 'failed';
    const hasFailed = rows.some((row) => statuses[row]![task] === 'failed');
    size = Math.min(max, hasFailed ? Math.max(1, Math.floor(size / 2)) : size * 2);
  }
}

test('M2 M3 M4 P1 P2 P3 P4 the batches of a night, their sizes, and the size in the manifest after it', () =>
  holds([nights(), modeOf('batches')], async (night, mode) => {
    const shift = shiftOf(night, settingsOf(mode));
    const run = await shift.run();
    const { batches, size } = expected(night, mode);
    expect(claimedIn(run)).toEqual(batches);
    expect(shift.size).toBe(size);
    expect(shift.statuses).toEqual(finalStatuses(night));
  }));

test('M2 M4 one at a time: all tasks of a row, up to its first failure, then the next row', () =>
  holds([nights()], async (night) => {
    const shift = shiftOf(night, { 'current-batch-size': 4 });
    const run = await shift.run();
    const order = night.fates.flatMap((row, index) => {
      const broken = row.findIndex((fate) => !passes(fate));
      return night.tasks
        .slice(0, broken < 0 ? row.length : broken + 1)
        .map((task) => ({ task, indices: [index], size: 1 }));
    });
    expect(claimedIn(run)).toEqual(order);
    expect(shift.statuses).toEqual(finalStatuses(night));
  }));

test('M2 M3 one at a time with `order: tasks`: a task for all rows, then the next task', () =>
  holds([nights()], async (night) => {
    const shift = shiftOf(night, { order: 'tasks' });
    const claimed = claimedIn(await shift.run());
    expect(claimed).toEqual(expected(night, { kind: 'sequential', size: 1, max: 1, order: 'tasks' }).batches);
    expect(shift.statuses).toEqual(finalStatuses(night));
  }));

test('M2 P8 with `order: rows`, an early end leaves finished rows: no more are begun than run together', () =>
  holds([nights(), modes, fc.integer({ min: 0, max: 20_000 })], async (night, mode, drainAt) => {
    const settings = settingsOf({ size: 2, max: 3, ...mode, order: 'rows' });
    const shift = shiftOf(night, settings);
    await shift.run({ drainAt });
    const isOpen = (row: readonly string[]) => row[0] === 'done' && row.includes('todo') && !row.includes('failed');
    const most = mode.kind === 'sequential' ? 1 : (mode.max ?? 3);
    expect(shift.statuses.filter(isOpen).length).toBeLessThanOrEqual(most);
    await shift.run();
    expect(shift.statuses).toEqual(finalStatuses(night));
  }));

test('P6 P7 T2 a batch: all claimed, all devs at once, then qa one by one on those that succeeded', () =>
  holds([nights(), modeOf('batches')], async (night, mode) => {
    const shift = shiftOf(night, settingsOf(mode));
    const batches = claimedIn(await shift.run());
    let work = [...shift.work];
    for (const { task, indices } of batches) {
      const devs = work.slice(0, indices.length);
      const fateOf = (row: number) => night.fates[row]![night.tasks.indexOf(task)]!;
      const succeeded = indices.filter((row) => fateOf(row).dev === 'pass');
      const qas = work.slice(indices.length, indices.length + succeeded.length);
      work = work.slice(indices.length + succeeded.length);
      expect(devs.map(({ role, row, status }) => [role, row, status])).toEqual(
        indices.map((row) => ['dev', row, 'in_progress']),
      );
      expect(new Set(devs.map(({ from }) => from)).size).toBe(1);
      expect(qas.map(({ role, row, status }) => [role, row, status])).toEqual(
        succeeded.map((row) => ['qa', row, 'qa']),
      );
      const starts = [Math.max(...devs.map(({ to }) => to!)), ...qas.map(({ to }) => to!)];
      expect(qas.map(({ from }) => from)).toEqual(starts.slice(0, qas.length));
    }
    expect(work).toEqual([]);
  }));

test('M5 P6 Progress after each batch, with the number of items of which all tasks are done', () =>
  holds([nights(), fc.constantFrom('sequential' as const, 'batches' as const).chain(modeOf)], async (night, mode) => {
    const shift = shiftOf(night, settingsOf(mode));
    const { events } = await shift.run();
    const told = events.filter(({ type }) => type === 'batch:finished' || type === 'progress').map(({ type }) => type);
    expect(told).toEqual(claimedIn({ events } as SimulatedRun).flatMap(() => ['batch:finished', 'progress']));
    const done = finalStatuses(night).filter((row) => row.every((status) => status === 'done')).length;
    expect(events.findLast(({ type }) => type === 'progress')).toMatchObject({
      done,
      total: night.fates.length,
      compacted: false,
    });
  }));
