import type { Shift } from '../core/model/shift.ts';
import { cellsAt, countSelected } from '../core/schedule/plan.ts';
import { isWholeShift } from '../core/schedule/selection.ts';
import type { Snapshot } from '../store/store.ts';
import { Course } from './context.ts';
import { isCurable } from './file-patience.ts';
import { foldLessons } from './learning.ts';
import type { RunEnd, RunParts } from './ports.ts';
import { protectedPlaces } from './protected-places.ts';
import { Streaming } from './schedule/as-stream.ts';
import { Batches } from './schedule/in-batches.ts';

/**
 * The manager: reads, decides, dispatches, and writes down what it decided. Only here it is decided what is dispatched.
 * Interrupted at any moment, the next run goes on from the files.
 */
export async function runShift(parts: RunParts, shift: Shift): Promise<RunEnd> {
  using course = new Course(parts, shift, await parts.documents.folderId());
  try {
    return await dispatch(course);
  } catch (error) {
    // A folder that was moved or removed fails whatever touches it next.
    const lost = await course.lostFolder();
    if (lost) return lost;
    throw error;
  }
}

async function dispatch(course: Course): Promise<RunEnd> {
  await using _held = { [Symbol.asyncDispose]: () => course.parts.protection.end() };
  await recover(course);
  const batches = new Batches(course);
  await using streaming = new Streaming(course);
  for (;;) {
    if (course.parts.stop.pause && !course.parts.stop.drain.aborted && streaming.isIdle) {
      const end = await sitOut(course);
      if (end) return end;
      continue;
    }
    // A person may change the way of dispatch; what is in flight ends as it began.
    const isStream = course.shift.settings.stream || streaming.isOpen;
    const end = await (isStream ? streaming : batches).turn().catch((error: unknown) => {
      // Who stops a run need not first correct a file.
      if (isCurable(error) && course.parts.stop.drain.aborted) return course.interrupted();
      throw error;
    });
    if (end) return end;
  }
}

/** Waits while the run is paused; nothing runs meanwhile. Where nothing is left to do, the run ends instead. */
async function sitOut(course: Course): Promise<RunEnd | undefined> {
  const { parts } = course;
  const snapshot = await parts.store.snapshot();
  if (!course.isLeft(snapshot)) return course.finished(snapshot);
  await parts.stop.resumed();
  if (parts.stop.drain.aborted) return undefined;
  // People may have edited anything meanwhile.
  course.expectChange();
  const lost = await course.reload();
  if (!lost) await foldWaiting(course, await parts.store.snapshot());
  return lost;
}

/** Recommendations of items that passed just before a pause or an interruption: the next batch gets the new Steps. */
async function foldWaiting(course: Course, snapshot: Snapshot): Promise<void> {
  const { parts, shift } = course;
  for (const task of shift.tasks) {
    if (parts.history.unsettled(task.name).size === 0) continue;
    await foldLessons(parts, shift, task, snapshot, 0);
    course.expectChange();
  }
}

/** From now on each change of the control is an event. */
function tellControl({ stop, emit, inFlight }: RunParts): void {
  stop.follow((change) => {
    const running = inFlight();
    // At a limit with nothing running, the end of the run tells it.
    if (change.signal !== 'limit' || running > 0) emit({ ...change, running });
  });
}

function hasBegun(snapshot: Snapshot): boolean {
  return (['done', 'qa', 'failed'] as const).some((status) => cellsAt(snapshot, status).length > 0);
}

/** Rule T5: items whose lease is over go back to `todo`, and processes of an earlier run are ended. */
async function recover(course: Course): Promise<void> {
  const { parts, shift } = course;
  const leftovers = await parts.endLeftovers();
  if (leftovers > 0) {
    parts.emit({ type: 'run:warning', message: `ended ${leftovers} processes that an earlier run had left` });
  }
  const stale = await parts.store.giveBackStale(parts.clock.now());
  const now = await parts.store.snapshot();
  const selection = parts.select(now);
  if (course.limits.countsEarlierRuns && parts.history.isEmpty && hasBegun(now)) {
    const message = 'table.csv shows finished work, but no journal says what it cost: the limits count from 0';
    parts.emit({ type: 'run:warning', message });
  }
  parts.emit({
    type: 'run:started',
    total: now.count,
    tasks: shift.tasks.map(({ name }) => name),
    parallel: shift.settings.parallel,
    stream: shift.settings.stream,
    agent: [...new Set(shift.tasks.map(({ settings }) => settings.agent))].join(', '),
    pid: process.pid,
    recovered: stale,
    waiting: cellsAt(now, 'qa', selection).length,
    counts: countSelected(now, selection),
    hasModel: course.limits.hasModel,
    limits: course.limits.inForce,
    // Those of the run before do not count.
    spent: { ...course.limits.spent, failures: 0 },
    ...(parts.selection === undefined || isWholeShift(parts.selection) ? {} : { selection: parts.selection }),
    ...(parts.request === undefined ? {} : { flags: [...parts.request.flags] }),
    ...(parts.request?.command === 'retry' ? { command: 'retry' } : {}),
  });
  tellControl(parts);
  // Before anybody works: from now on the files that `protect:` names stay as they are.
  await parts.protection.begin(protectedPlaces(shift, now, selection.includes));
  course.limits.check();
  // Where nothing is left, or may be spent, no agent is started.
  if (course.isLeft(now) && !parts.stop.isHalted) await foldWaiting(course, now);
}
