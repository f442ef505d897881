import { existsSync } from 'node:fs';
import { endMarked } from '../../agents/process/leftovers.ts';
import { AgentSet } from '../../agents/registry.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { Counts, NightshiftEvent, TranscriptHappening } from '../../core/model/events.ts';
import type { RunEnd, Stop } from '../../engine/ports.ts';
import { runShift } from '../../engine/run.ts';
import { RunClock } from '../../engine/run-clock.ts';
import { Running } from '../../engine/running.ts';
import { KeptWorkplaces } from '../../engine/worker/workplace.ts';
import { refuseOpenBatch, removeBatch } from '../../store/folder/batch-file.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { type Holder, nameHolder, takeRunLock } from '../../store/folder/run-lock.ts';
import type { RunResult } from '../api.ts';
import { type Compile, compileOnce } from '../compile-once.ts';
import { keptWorkspaceLines } from '../kept-workspaces.ts';
import { type OpenOptions, type OpenShift, openAndCheck } from '../open-shift.ts';
import type { World } from '../world.ts';
import { EventStream, newRun } from './event-stream.ts';
import { failpointFrom } from './failpoint.ts';
import { settleBeforeStart } from './killed-run.ts';
import { checkFirst, overridesIn, type RunSettings } from './plan-run.ts';
import { processClock } from './process-time.ts';
import { FolderControl } from './run-control.ts';
import { countAtEnd, tellError } from './run-end.ts';
import { buildPorts } from './run-ports.ts';
import { uncommittedLines } from './uncommitted.ts';
import { unprotectedLines } from './unprotected-files.ts';

export interface FolderRunOptions extends RunSettings {
  /** Called with each event as it happens. */
  readonly onEvent: (event: NightshiftEvent) => void;
  /** Called with each line of a transcript. */
  readonly onTranscript?: (happening: TranscriptHappening) => void;
  /** Called when the run holds its lock. Before that, the caller can still end it by ending the process. */
  readonly openStop?: () => Stop & Disposable;
}

/** The result of a run, and whether everything was done before it began. */
export type EndedRun = RunResult & Pick<RunEnd, 'alreadyComplete'>;

/** What exists of a run before it holds its lock. */
export interface NewRun {
  readonly paths: ShiftPaths;
  readonly options: FolderRunOptions;
  readonly world: World;
  readonly holder: Holder;
  readonly stream: EventStream;
  readonly clock: RunClock;
  readonly running: Running;
  readonly failpoint: (name: string) => void;
  readonly compile: Compile;
  /** How long it has taken so far, in milliseconds of active time. */
  ms(): number;
}

/** Runs a shift to its end and leaves no process behind. */
export async function runFolder(paths: ShiftPaths, options: FolderRunOptions, world: World): Promise<EndedRun> {
  const run = newRunOf(paths, options, world);
  const leftovers = await settleBeforeStart(paths, run.holder, world, options.onEvent);
  await using agents = new AgentSet(options.agents);
  await using workplaces = new KeptWorkplaces();
  const complete = await checkFirst(run, agents);
  if (complete) return await finishComplete(run, complete);
  using _lock = await lock(run);
  return await runLocked(run, { agents, workplaces, leftovers });
}

function newRunOf(paths: ShiftPaths, options: FolderRunOptions, world: World): NewRun {
  const failpoint = failpointFrom(world.env);
  const clock = new RunClock(processClock(world.now));
  const begun = clock.elapsed();
  const since = new Date(world.now()).toISOString();
  const holder = { pid: process.pid, since, run: newRun(since) };
  const running = new Running();
  const stream = new EventStream(holder.run, paths, world, {
    ...options,
    clock,
    labelOf: (item) => running.labelOf(item),
    onEvent: (event) => {
      options.onEvent(event);
      failpoint(event.type);
    },
  });
  const compile = compileOnce(overridesIn(options));
  const ms = () => Math.round(clock.elapsed() - begun);
  return { paths, options, world, holder, stream, clock, running, failpoint, compile, ms };
}

async function lock({ paths, holder, world }: NewRun): Promise<Disposable> {
  const now = world.now();
  refuseOpenBatch(paths, now);
  const held = await takeRunLock(paths, holder);
  try {
    // From here on, none can be opened. A stale one is removed, which voids its tokens.
    refuseOpenBatch(paths, now);
    await removeBatch(paths);
    return held;
  } catch (error) {
    held[Symbol.dispose]();
    throw error;
  }
}

/** What a run opens before it holds its lock. */
interface Opened {
  readonly agents: AgentSet;
  readonly workplaces: KeptWorkplaces;
  /** How many processes of a killed run were ended. */
  readonly leftovers: number;
}

async function runLocked(run: NewRun, { agents, workplaces, leftovers }: Opened): Promise<EndedRun> {
  const { paths, options, world, stream, failpoint } = run;
  // Read again: until the lock was taken another run may have written, and that is no edit from outside.
  const opened = await openParts(paths, {
    ...overridesIn(options),
    emit: stream.emit,
    failpoint,
    patienceMs: 0,
    compile: run.compile,
  });
  await using _stream = await stream.open(() => void restoreFiles(run, opened.files));
  using stop = options.openStop?.();
  using control = new FolderControl(run, stop);
  const unprotected = await unprotectedLines(world, opened.shift, opened.store);
  const kept = await keptWorkspaceLines(paths, opened.shift);
  const uncommitted = await uncommittedLines(world, opened.shift, opened.store);
  for (const message of [...opened.shift.warnings, ...unprotected, ...kept, ...uncommitted])
    stream.emit({ type: 'run:warning', message });
  const ports = await buildPorts(run, opened, { agents, workplaces, control });
  const runAll = async () => {
    await endLeftovers(run, leftovers);
    await ports.recover();
    return runShift(ports.ports, await ports.load());
  };
  const end = await runAll()
    .catch((error: unknown) => {
      ports.checkFleet();
      throw error;
    })
    .then(async (end) => {
      ports.checkFleet();
      if (end.exitCode !== EXIT.interrupted) await ports.lookOutside();
      await stream.flush();
      await ports.end(end.exitCode === EXIT.done || end.exitCode === EXIT.failedItems);
      return end;
    })
    .finally(() => endMarked({ shiftFolder: paths.folder }))
    .finally(() => ports.close())
    .catch(async (error: unknown) => {
      await tellError(run, error, { store: opened.store, secrets: ports.secrets() }).catch(() => {});
      throw error;
    });
  const hasFinished = end.exitCode === EXIT.done || end.exitCode === EXIT.failedItems;
  if (hasFinished) await control.forgetPause();
  const counts = await countAtEnd(opened.store, end);
  const result = { ...end, ms: run.ms() };
  // A run that was stopped before it started has no end, either.
  if (stream.history.lastRun?.run === run.holder.run) {
    stream.emit({
      type: 'run:finished',
      ...result,
      ...(counts ?? { total: 0, completed: 0, failed: 0, remaining: 0 }),
    });
  }
  return { ...result, ...(counts === undefined ? {} : { counts }) };
}

/** Ends processes that an earlier run left. `already`: how many were ended before. */
async function endLeftovers({ paths, stream }: NewRun, already: number): Promise<void> {
  const count = already + (await endMarked({ shiftFolder: paths.folder }));
  if (count === 0) return;
  stream.emit({ type: 'run:warning', message: `ended ${count} processes that an earlier run had left` });
}

/** Without the first snapshot: this frame would keep its table, which may be large, to the end. */
async function openParts(paths: ShiftPaths, options: OpenOptions): Promise<Omit<OpenShift, 'snapshot'>> {
  const { files, store, shift } = await openAndCheck(paths, options);
  return { files, store, shift };
}

/** After another program removed what the engine keeps. Best effort: what must not be lost is in the journal. */
async function restoreFiles({ paths, holder }: NewRun, files: ShiftFiles): Promise<void> {
  try {
    nameHolder(paths, holder);
    await files.versions.rewrite();
  } catch {}
}

/** A run that was killed after its last item may have left processes, and the Progress of the batch before. */
async function finishComplete({ paths, holder, stream, failpoint }: NewRun, counts: Counts): Promise<EndedRun> {
  const files = new ShiftFiles(paths, failpoint);
  if (existsSync(paths.runLock)) {
    await files.prepare();
    using _lock = await takeRunLock(paths, holder);
    await endMarked({ shiftFolder: paths.folder });
  }
  await files.finishBatch(counts, undefined);
  const end = { exitCode: EXIT.done, reason: 'already complete', alreadyComplete: true as const };
  stream.emit({ type: 'run:finished', ...end, ms: 0, ...counts });
  return { ...end, ms: 0, counts };
}
