import { resolve } from 'node:path';
import { EXIT } from '../core/model/errors.ts';
import { countItems, statusAt } from '../core/schedule/plan.ts';
import { createTable } from '../formats/table.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { refuseSecondRun } from '../store/folder/run-lock.ts';
import { refuseInside } from './access.ts';
import { addTask } from './add-task.ts';
import type { CreateOptions, Item, ResetOptions, ResetResult, RetryOptions, Run, RunOptions, Shift } from './api.ts';
import { createWithAnyAgent } from './create-shift.ts';
import { openTable, resetItems } from './edit/edit-items.ts';
import { findShift } from './find-shift.ts';
import { listLessons } from './lessons/list-lessons.ts';
import { openAndCheck } from './open-shift.ts';
import { pauseRun, resumeShift } from './pause-run.ts';
import { readItem } from './read-item.ts';
import { limitReached, planRetry, resetFailures, retrySelection } from './retry.ts';
import { currentRun, followRun } from './run/follow-run.ts';
import { startRun } from './run/start-run.ts';
import { readRetryOptions, readRunOptions, retryRequest } from './run-options.ts';
import { readStatus } from './status.ts';
import { findRun, stopRun } from './stop-run.ts';
import type { World } from './world.ts';

/** Opens a shift of the project that `folder` is in. Without a name: the only shift there is. */
export async function openShift(folder: string, name?: string): Promise<Shift> {
  const world = worldAt(folder);
  return shiftAt(findShift(world, name), world);
}

/** Creates a shift in the project that `folder` is in, or a project in `folder`. */
export async function createShift(folder: string, name: string, options: CreateOptions = {}): Promise<Shift> {
  const world = worldAt(folder);
  refuseInside(world, 'createShift');
  const { items: given = [], agent, parallel } = options;
  const items = given.length === 0 ? undefined : tableOf(given);
  return shiftAt(await createWithAnyAgent(world, name, { agent, parallel, items }), world);
}

function worldAt(folder: string): World {
  return { cwd: resolve(folder), env: process.env, now: Date.now };
}

function shiftAt(paths: ShiftPaths, world: World): Shift {
  return {
    name: paths.name,
    folder: paths.folder,
    run: (options = {}) => run(paths, options, world),
    status: async () => (await readStatus(paths, world)).status,
    lessons: (task) => listLessons(world, paths, task),
    items: () => readItems(paths),
    item: (row) => readItem(world, paths, String(row)),
    retry: (options = {}) => retry(paths, options, world),
    reset: (options = {}) => reset(paths, options, world),
    addTask: async (name, source) => {
      refuseInside(world, 'addTask');
      await addTask(world, paths, name, source);
    },
    stop: async (options = {}) => {
      refuseInside(world, 'stop');
      const holder = await findRun(paths);
      if (holder) await stopRun(paths, holder, { now: false, ...options }, world);
      return holder !== undefined;
    },
    pause: async ({ now = false } = {}) => {
      refuseInside(world, 'pause');
      return (await pauseRun(paths, now, world)).running !== null;
    },
    resume: async () => {
      refuseInside(world, 'resume');
      return (await resumeShift(paths)).wasPaused;
    },
    follow: (options = {}) => follow(paths, options.signal),
  };
}

function run(paths: ShiftPaths, options: RunOptions, world: World): Run {
  const prepare = async () => {
    refuseInside(world, 'run');
    return readRunOptions(options);
  };
  return startRun(paths, prepare, world, options.signal);
}

function retry(paths: ShiftPaths, options: RetryOptions, world: World): Run {
  const prepare = async () => {
    refuseInside(world, 'retry');
    refuseSecondRun(paths.runLock, paths.name);
    const settings = readRetryOptions(options);
    const plan = await planRetry(paths, settings, world);
    const ended = { counts: countItems(plan.run.snapshot), ms: 0 };
    if (plan.failures.length + plan.left.size === 0) {
      return { exitCode: EXIT.done, reason: 'nothing has failed', ...ended };
    }
    const request = retryRequest(settings, options);
    const limit = limitReached(plan, request, world.now());
    // A run that ends at once would only erase the reasons of the failures.
    if (limit) return { exitCode: EXIT.stopped, reason: limit.text, ...ended };
    await resetFailures(paths, plan, settings, world);
    const { agent, model, agents, limits = {} } = settings;
    return { agent, model, agents, limits, ...retrySelection(plan, settings), request };
  };
  return startRun(paths, prepare, world, options.signal);
}

async function readItems(paths: ShiftPaths): Promise<Item[]> {
  const { snapshot } = await openAndCheck(paths);
  return Array.from({ length: snapshot.count }, (_, row) => ({
    row: row + 1,
    id: snapshot.id(row),
    cells: snapshot.metadata(row),
    statuses: Object.fromEntries(snapshot.tasks.map((task, position) => [task, statusAt(snapshot, row, position)])),
  }));
}

async function reset(paths: ShiftPaths, options: ResetOptions, world: World): Promise<ResetResult> {
  refuseInside(world, 'reset');
  const { rows, task, keepLater } = options;
  return await resetItems(await openTable(world, paths), { task, rows: rows === undefined ? [] : [rows], keepLater });
}

async function* follow(paths: ShiftPaths, signal: AbortSignal = new AbortController().signal) {
  const current = currentRun(paths);
  if (!current) return;
  for await (const followed of followRun(paths, current.run, signal)) if (followed) yield followed.event;
}

/** The columns of all items, in the order in which they first appear. */
function tableOf(items: readonly Readonly<Record<string, string>>[]) {
  const columns = [...new Set(items.flatMap((item) => Object.keys(item)))];
  return createTable(
    columns,
    items.map((item) => columns.map((column) => item[column] ?? '')),
  );
}
