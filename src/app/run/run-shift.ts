import { existsSync } from 'node:fs';
import type { Agent } from '../../agents/agent.ts';
import { agentEnvironment } from '../../agents/environment.ts';
import { endMarked } from '../../agents/process/leftovers.ts';
import { AgentSet, agentNames } from '../../agents/registry.ts';
import { runCheck } from '../../checks/checks.ts';
import { EXIT, endByError, NightshiftError } from '../../core/model/errors.ts';
import type { Counts, NightshiftEvent, TranscriptHappening } from '../../core/model/events.ts';
import type { Shift } from '../../core/model/shift.ts';
import { systemError } from '../../core/model/system-errors.ts';
import type { SetLimits } from '../../core/schedule/limits.ts';
import { cellsAt, countItems, type Selection } from '../../core/schedule/plan.ts';
import { Returns } from '../../core/schedule/returns.ts';
import type { RunRequest } from '../../core/schedule/run-request.ts';
import { createMask } from '../../core/text/mask.ts';
import { hasModel } from '../../engine/budget.ts';
import type { RunEnd } from '../../engine/ports.ts';
import { checkAgents } from '../../engine/preflight.ts';
import { runShift } from '../../engine/run.ts';
import { StopSignals } from '../../engine/stop.ts';
import { perform } from '../../engine/worker/worker.ts';
import { KeptWorkplaces } from '../../engine/worker/workplace.ts';
import type { Overrides } from '../../formats/compile.ts';
import { refuseOpenBatch, removeBatch } from '../../store/folder/batch-file.ts';
import { InForce } from '../../store/folder/documents/in-force.ts';
import { InForceRecord } from '../../store/folder/documents/in-force-record.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { type Holder, nameHolder, takeRunLock } from '../../store/folder/run-lock.ts';
import { findTask } from '../find-task.ts';
import { checkerOf, type OpenOptions, type OpenShift, openAndCheck, reloader } from '../open-shift.ts';
import { refuseEmpty } from '../refuse-empty.ts';
import { parseRow } from '../rows.ts';
import { type Choice, isPart, refuseNoMatch, selector } from '../select-rows.ts';
import type { World } from '../world.ts';
import { EventStream, newRun } from './event-stream.ts';
import { failpointFrom } from './failpoint.ts';
import { settleBeforeStart } from './killed-run.ts';
import { keysOfWriters } from './open-files.ts';
import { processTime } from './process-time.ts';
import { protectFiles } from './protect-files.ts';
import { unprotectedLines } from './unprotected-files.ts';
import { watchFolders } from './watch-folders.ts';

/** Which part of a shift is to be run, and by whom. */
export interface Asked extends Choice {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly limits?: SetLimits;
  /** How it was asked for. */
  readonly request?: RunRequest;
}

export interface StartOptions extends Asked {
  /** Everything that happens, as it happens. */
  readonly onEvent: (event: NightshiftEvent) => void;
  /** What is said in sessions, as it is said. */
  readonly onTranscript?: (happening: TranscriptHappening) => void;
}

/** Runs a shift to its end: takes the run lock, opens the parts, lets the engine walk, and leaves nothing running. */
export async function runFolder(
  paths: ShiftPaths,
  options: StartOptions,
  world: World,
): Promise<RunEnd & { ms: number }> {
  const failpoint = failpointFrom(world.env);
  const started = world.now();
  const time = processTime();
  const begun = time.elapsed();
  const ms = () => Math.round(time.elapsed() - begun);
  const since = new Date(started).toISOString();
  const run = newRun(since);
  const holder = { pid: process.pid, since, run };
  const stream = new EventStream(run, paths, world, {
    ...options,
    onEvent: (event) => {
      options.onEvent(event);
      failpoint(event.type);
    },
  });
  const leftovers = await settleBeforeStart(paths, holder, world, options.onEvent);
  await using agents = new AgentSet();
  await using kept = new KeptWorkplaces();
  const complete = await checkFirst(paths, options, agents, world);
  if (complete) {
    await clearUp(new ShiftFiles(paths, failpoint), complete, holder);
    const end = { exitCode: EXIT.done, reason: 'already complete' };
    stream.emit({ type: 'run:finished', ...end, ms: 0, ...complete });
    return { ...end, ms: 0 };
  }
  refuseOpenBatch(paths, started);
  using _running = await takeRunLock(paths, holder);
  // Nobody else can open one now; a stale one is taken over, and its tokens are void.
  refuseOpenBatch(paths, started);
  await removeBatch(paths);
  // Read again: until now another run may have been writing, and what it wrote is not an edit from outside.
  const { files, store, shift } = await openParts(paths, {
    ...overridesIn(options),
    emit: stream.emit,
    failpoint,
    patienceMs: 0,
  });
  const rewrite = async () => {
    nameHolder(paths, holder);
    await files.versions.rewrite();
  };
  // As good as it can be: what must not be lost is in the journal.
  await using _stream = await stream.open(() => void rewrite().catch(() => {}));
  using stop = new StopSignals(
    (signal) => stream.emit({ type: 'run:draining', signal, running: stream.running }),
    (signal) => stream.emit({ type: 'run:stopping', signal, running: stream.running }),
  );
  const unprotected = await unprotectedLines(world, shift, store);
  for (const message of [...shift.warnings, ...unprotected]) stream.emit({ type: 'run:warning', message });
  // A copy: to ask for a variable of this process takes a call into the system's library each time.
  const caller = { ...world.env };
  const check = checkerOf(store, shift, overridesIn(options), (changed) => requireAgents(changed, agents, world));
  const record = new InForceRecord(paths);
  const inForce = await InForce.open(files, {
    emit: stream.emit,
    now: world.now,
    check,
    record,
    writers: keysOfWriters,
  });
  const reload = reloader(inForce, store, overridesIn(options));
  let { secrets } = shift;
  const load = async () => {
    const now = await reload();
    secrets = now.secrets;
    return now;
  };
  const end = await runShift(
    {
      store,
      documents: inForce,
      load,
      agents: (shift) => ({ find: agents.find, secrets: shift.secrets, caller, kept }),
      check: runCheck,
      folders: watchFolders(paths, world, (message) => stream.emit({ type: 'run:warning', message })),
      protection: protectFiles(paths, world, stream.emit),
      perform,
      emit: stream.emit,
      listen: stream.listen,
      inFlight: () => stream.running,
      ...(options.request === undefined ? {} : { request: options.request }),
      isPart: isPart(options),
      flush: async () => {
        await stream.flush();
        failpoint('journal:flushed');
      },
      checkKept: () => stream.checkKept(),
      history: stream.history,
      asked: new Map(),
      returns: new Returns(),
      stop: {
        // A run that can't record what it spends must not spend more.
        drain: AbortSignal.any([stop.drain, stream.failed]),
        now: AbortSignal.any([stop.now, stream.failed]),
      },
      select: await selectIn(store, options),
      endLeftovers: async () => leftovers + (await endMarked({ shiftFolder: paths.folder })),
      now: world.now,
      time,
      random: Math.random,
    },
    await load(),
  )
    .then(async (end) => {
      await stream.flush();
      return end;
    })
    .finally(() => endMarked({ shiftFolder: paths.folder }))
    .finally(() => inForce.close())
    .catch(async (error: unknown) => {
      await tellError(error, { stream, run, store, secrets, ms: ms() }).catch(() => {});
      throw error;
    });
  // A run that lost its folder, or was stopped while its table could not be read, has nothing to count in.
  const last = await store.snapshot().catch((error: unknown) => {
    if (end.exitCode === EXIT.stopped || end.exitCode === EXIT.interrupted) return undefined;
    throw error;
  });
  const counts = last ? countItems(last) : { total: 0, completed: 0, failed: 0, remaining: 0 };
  const told = { ...end, ms: ms() };
  stream.emit({ type: 'run:finished', ...told, ...counts });
  return told;
}

interface Broken extends Pick<OpenShift, 'store'> {
  readonly stream: EventStream;
  readonly run: string;
  readonly secrets: Shift['secrets'];
  readonly ms: number;
}

/** That an error ended the run, for those who look on or later, as far as it can still be written. */
async function tellError(error: unknown, { stream, run, store, secrets, ms }: Broken): Promise<void> {
  // One that has not begun is told of to who asked for it, and to nobody else.
  if (stream.history.lastRun?.run !== run) return;
  const { reason, ...end } = endByError(systemError(error) ?? error);
  // Who could not have the table's lock would only wait for it once more.
  const last = end.error === 'locked' ? undefined : await store.snapshot().catch(() => undefined);
  const counts = last ? countItems(last) : {};
  stream.emit({ type: 'run:finished', ...end, reason: createMask(secrets).text(reason), ms, ...counts });
}

/**
 * Bad input is told before anything is written. Answers the counts if all is done already. A function of its own, so that
 * the table it read is let go of before the run reads it again.
 */
async function checkFirst(
  paths: ShiftPaths,
  options: StartOptions,
  agents: AgentSet,
  world: World,
): Promise<Counts | undefined> {
  const found = await openAndCheck(paths, overridesIn(options));
  refuseNothing(found, options);
  const { count, tasks } = found.snapshot;
  if (cellsAt(found.snapshot, 'done').length === count * tasks.length) return countItems(found.snapshot);
  await requireAgents(found.shift, agents, world);
  await found.files.prepare();
  return undefined;
}

/** A run that was killed right after its last item has left its processes, and the Progress of the batch before. */
async function clearUp(files: ShiftFiles, counts: Counts, holder: Holder): Promise<void> {
  const { folder, runLock } = files.paths;
  if (existsSync(runLock)) {
    await files.prepare();
    using _running = await takeRunLock(files.paths, holder);
    await endMarked({ shiftFolder: folder });
  }
  await files.finishBatch(counts, undefined);
}

/** Without the first snapshot: the frame of a run would hold its table, which may be large, to the end. */
async function openParts(paths: ShiftPaths, options: OpenOptions): Promise<Omit<OpenShift, 'snapshot'>> {
  const { files, store, shift } = await openAndCheck(paths, options);
  return { files, store, shift };
}

async function selectIn(store: OpenShift['store'], choice: Choice): Promise<ReturnType<typeof selector>> {
  return selector(await store.snapshot(), choice);
}

/** A choice that names nothing is bad input, too. */
function refuseNothing({ shift, snapshot }: OpenShift, choice: Choice): void {
  const { task, rows } = choice;
  refuseEmpty(shift, snapshot.count);
  if (task !== undefined) findTask(shift, task);
  if (rows !== undefined) parseRow(String(rows.from + 1), snapshot.count);
  refuseNoMatch(snapshot, choice);
}

export async function requireAgents(shift: Shift, agents: AgentSet, world: World): Promise<void> {
  const environmentFor = ({ credentials }: Agent) =>
    agentEnvironment({ caller: world.env, passEnv: credentials, secrets: shift.secrets, own: {} });
  try {
    await checkAgents(shift, agents.find, agentNames, environmentFor);
  } catch (error) {
    throw error instanceof NightshiftError ? error.noting(shift.warnings) : error;
  }
}

/** What the command line says over the files. */
export function overridesIn({ agent, model, limits = {} }: Asked): Overrides {
  return { agent, model, limits };
}

/** The same checks as before a run, and what it would be about; nothing is written, no agent is started. */
export async function planFolder(
  paths: ShiftPaths,
  options: Asked,
  world: World,
): Promise<OpenShift & { selection: Selection; hasModel: boolean }> {
  const opened = await openAndCheck(paths, overridesIn(options));
  refuseNothing(opened, options);
  await using agents = new AgentSet();
  await requireAgents(opened.shift, agents, world);
  return {
    ...opened,
    selection: selector(opened.snapshot, options)(opened.snapshot),
    hasModel: opened.shift.tasks.some((task) => hasModel(task, agents.find)),
  };
}
