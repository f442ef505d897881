import type { Shift } from '../core/model/shift.ts';
import { cellsAt, countSelected } from '../core/schedule/plan.ts';
import { isWholeShift } from '../core/schedule/selection.ts';
import type { Snapshot } from '../store/store.ts';
import { accessIn, resultsIn } from './access.ts';
import { RunContext } from './context.ts';
import { isCurable } from './file-patience.ts';
import { foldLessons, foldRest, reconcileLessons } from './learning/fold.ts';
import type { RunEnd, RunPorts } from './ports.ts';
import { protectedPlaces } from './protected-places.ts';
import { adoptItems } from './schedule/adoption.ts';
import { Batches } from './schedule/batches.ts';
import type { RunningItem } from './schedule/dispatch.ts';
import { Stream } from './schedule/stream.ts';

/**
 * The manager: reads, decides, dispatches, and records its decisions. If it is interrupted at any moment, the next
 * run resumes from the files.
 */
export async function runShift(ports: RunPorts, shift: Shift): Promise<RunEnd> {
  using context = new RunContext(ports, shift, await ports.documents.folderId());
  try {
    return await dispatch(context);
  } catch (error) {
    // In a folder that was moved or removed, the next access fails.
    const lost = await context.lostFolder();
    if (lost) return lost;
    throw error;
  }
}

async function dispatch(context: RunContext): Promise<RunEnd> {
  await using _held = { [Symbol.asyncDispose]: () => context.ports.protection.end() };
  /** You can stop a run without fixing a file first. */
  const orInterrupted = (error: unknown): Promise<RunEnd> => {
    if (isCurable(error) && context.control.drain.aborted) return context.interrupted();
    throw error;
  };
  const recovered = await recover(context).catch(orInterrupted);
  if ('exitCode' in recovered) return recovered;
  const batches = new Batches(context);
  await using stream = new Stream(context, recovered.adopted);
  for (;;) {
    if (context.control.pause && !context.control.drain.aborted && stream.isIdle) {
      const end = await sitOut(context);
      if (end) return end;
      continue;
    }
    // You may change the mode; running items finish the way they started.
    const isStream = context.shift.settings.stream || stream.isOpen;
    const end = await (isStream ? stream : batches).turn().catch(orInterrupted);
    if (end) {
      await foldRest(context);
      return end;
    }
  }
}

/** Waits while the run is paused and nothing runs. If nothing is left to do, the run ends instead. */
async function sitOut(context: RunContext): Promise<RunEnd | undefined> {
  const { store, control } = context;
  const snapshot = await store.snapshot();
  if (!context.isLeft(snapshot)) return context.finished(snapshot);
  await context.resumed();
  if (control.drain.aborted) return undefined;
  // You may have edited anything meanwhile.
  context.expectChange();
  const lost = await context.reload();
  if (!lost) await foldWaiting(context);
  return lost;
}

/**
 * Folds what items reported just before a pause or an interruption: the next batch gets the new Steps.
 */
async function foldWaiting(context: RunContext): Promise<void> {
  const { history, shift } = context;
  for (const { name } of shift.tasks) {
    if (history.unsettled(name).size + history.votes(name).length > 0) await foldLessons(context, name, 0);
  }
}

/** From now on, each change of the control is an event. */
function tellControl({ control, emit, ports }: RunContext): void {
  control.follow((change) => {
    const running = ports.running.size;
    // At a limit with nothing running, the end of the run reports it.
    if (change.signal !== 'limit' || running > 0) emit({ ...change, running });
  });
}

function hasBegun(snapshot: Snapshot): boolean {
  return (['done', 'qa', 'failed'] as const).some((status) => cellsAt(snapshot, status).length > 0);
}

/** Rule T5: items whose lease is over go back to `todo`. `adopted`: items that workers of a fleet still work on. */
async function recover(context: RunContext): Promise<{ adopted: RunningItem[] }> {
  const { store, ports, budget, shift, history } = context;
  const { selection } = ports.scope;
  const adopted = await adoptItems(context);
  const stale = await store.giveBackStale(ports.clock.now());
  const now = await store.snapshot();
  budget.countRows(now.count);
  const scope = context.select(now);
  const results = resultsIn(shift);
  if (budget.countsEarlierRuns && history.isEmpty && hasBegun(now)) {
    const message = 'table.csv shows finished work, but no journal says what it cost: the limits count from 0';
    context.emit({ type: 'run:warning', message });
  }
  context.emit({
    type: 'run:started',
    total: now.count,
    tasks: shift.tasks.map(({ name }) => name),
    parallel: shift.settings.parallel,
    stream: shift.settings.stream,
    agent: [...new Set(shift.tasks.map(({ settings }) => settings.agent))].join(', '),
    pid: process.pid,
    recovered: stale,
    ...(adopted.length > 0 && { adopted: adopted.length }),
    waiting: cellsAt(now, 'qa', scope).length,
    counts: countSelected(now, scope),
    hasModel: budget.hasModel,
    limits: budget.inForce,
    // Failures of the previous run do not count.
    spent: { ...budget.spent, failures: 0 },
    ...(selection === undefined || isWholeShift(selection) ? {} : { selection }),
    ...(ports.scope.request === undefined ? {} : { flags: [...ports.scope.request.flags] }),
    ...(ports.scope.request?.command === 'retry' ? { command: 'retry' } : {}),
    access: accessIn(shift, ports.fleet !== undefined),
    ...(results && { results }),
  });
  tellControl(context);
  // Before any agent starts: from now on, the files that `protect:` names stay as they are.
  await ports.protection.begin(protectedPlaces(shift, now, scope.includes));
  budget.check();
  await reconcileLessons(context);
  // If nothing is left to do or to spend, no agent is started. Adopted items may end meanwhile, and must not wait.
  if (adopted.length === 0 && context.isLeft(now) && !context.control.isHalted) await foldWaiting(context);
  return { adopted };
}
