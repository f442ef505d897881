import { existsSync } from 'node:fs';
import type { Agent } from '../agents/agent.ts';
import { agentEnvironment } from '../agents/environment.ts';
import { endMarked } from '../agents/leftovers.ts';
import { AgentSet, agentNames } from '../agents/registry.ts';
import { runCheck } from '../checks/checks.ts';
import { EXIT, endByError, NightshiftError } from '../core/errors.ts';
import type { Counts, NightshiftEvent, TranscriptHappening } from '../core/events.ts';
import type { Again, SetLimits } from '../core/limits.ts';
import { createMask } from '../core/mask.ts';
import { cellsAt, countItems, type Selection } from '../core/plan.ts';
import type { Shift, Task } from '../core/shift.ts';
import { perform } from '../engine/item.ts';
import { hasModel } from '../engine/limits.ts';
import { checkAgents } from '../engine/preflight.ts';
import { runShift } from '../engine/run.ts';
import type { RunEnd } from '../engine/run-state.ts';
import { StopSignals } from '../engine/stop.ts';
import type { Overrides } from '../formats/compile.ts';
import { refuseOpenBatch, removeBatch } from '../store/batch-file.ts';
import type { ShiftPaths } from '../store/layout.ts';
import { type Holder, takeRunLock } from '../store/run-lock.ts';
import { ShiftFiles } from '../store/shift-files.ts';
import { EventStream, newRun } from './event-stream.ts';
import { findTask } from './find-task.ts';
import type { Io } from './io.ts';
import { type OpenOptions, type OpenShift, openAndCheck, reloader } from './open-shift.ts';
import { parseRow } from './rows.ts';
import { type Choice, refuseNoMatch, selector } from './select-rows.ts';
import { watchFolders } from './watch-folders.ts';

/** Which part of a shift is to be run, and by whom. */
export interface Asked extends Choice {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly limits?: SetLimits;
  /** The command that starts the same again. */
  readonly again?: Again;
  /** What of the command line goes on with it, as `--name=value`. */
  readonly flags?: readonly string[];
}

export interface StartOptions extends Asked {
  /** Everything that happens, as it happens. */
  readonly onEvent: (event: NightshiftEvent) => void;
  /** What is said in sessions, as it is said. */
  readonly onTranscript?: (happening: TranscriptHappening) => void;
}

/** Runs a shift to its end: takes the run lock, opens the parts, lets the engine walk, and leaves nothing running. */
export async function runFolder(paths: ShiftPaths, options: StartOptions, io: Io): Promise<RunEnd> {
  const failpoint = failpointFrom(io.env);
  const started = io.now();
  const since = new Date(started).toISOString();
  const run = newRun(since);
  const holder = { pid: process.pid, since, run };
  const stream = new EventStream(run, paths, io, {
    ...options,
    onEvent: (event) => {
      options.onEvent(event);
      failpoint(event.type);
    },
  });
  await using agents = new AgentSet();
  const complete = await checkFirst(paths, options, agents, io);
  if (complete) {
    await clearUp(new ShiftFiles(paths, failpoint), complete, holder);
    const end = { exitCode: EXIT.done, reason: 'already complete' };
    stream.emit({ type: 'run:finished', ...end, ms: 0, ...complete });
    return end;
  }
  refuseOpenBatch(paths, started);
  using _running = await takeRunLock(paths.runLock, paths.name, holder);
  // Nobody else can open one now; a stale one is taken over, and its tokens are void.
  refuseOpenBatch(paths, started);
  await removeBatch(paths);
  // Read again: until now another run may have been writing, and what it wrote is not an edit from outside.
  const { files, store, shift } = await openParts(paths, { ...overridesIn(options), emit: stream.emit, failpoint });
  await using _stream = await stream.open();
  using stop = new StopSignals(
    (signal) => stream.emit({ type: 'run:draining', signal, running: stream.running }),
    (signal) => stream.emit({ type: 'run:stopping', signal, running: stream.running }),
  );
  for (const message of shift.warnings) stream.emit({ type: 'run:warning', message });
  const isChecked = new Set(shift.tasks.map(fingerprint));
  // A copy: to ask for a variable of this process takes a call into the system's library each time.
  const caller = { ...io.env };
  const reload = reloader(files, store, overridesIn(options));
  let { secrets } = shift;
  const load = async () => {
    const now = await reload();
    secrets = now.secrets;
    // A task that a person added or changed may ask for an agent that is not there.
    const changed = now.tasks.filter((task) => !isChecked.has(fingerprint(task)));
    if (changed.length > 0) await requireAgents({ ...now, tasks: changed }, agents, io);
    for (const task of changed) isChecked.add(fingerprint(task));
    return now;
  };
  const end = await runShift(
    {
      store,
      documents: files,
      load,
      agents: (shift) => ({ find: agents.find, secrets: shift.secrets, caller }),
      check: runCheck,
      folders: watchFolders(paths, io, (message) => stream.emit({ type: 'run:warning', message })),
      perform,
      emit: stream.emit,
      listen: stream.listen,
      inFlight: () => stream.running,
      ...(options.again === undefined ? {} : { again: options.again }),
      ...(options.flags === undefined ? {} : { flags: options.flags }),
      flush: async () => {
        await stream.flush();
        failpoint('journal:flushed');
      },
      checkKept: () => stream.checkKept(),
      history: stream.history,
      asked: new Map(),
      stop,
      select: await selectIn(store, options),
      endLeftovers: () => endMarked({ shiftFolder: paths.folder }),
      now: io.now,
    },
    await load(),
  )
    .finally(() => endMarked({ shiftFolder: paths.folder }))
    .catch(async (error: unknown) => {
      await tellError(error, { stream, run, store, secrets, ms: io.now() - started }).catch(() => {});
      throw error;
    });
  await stream.flush();
  // A run that lost its folder has no table to count in.
  const last = await store.snapshot().catch((error: unknown) => {
    if (end.exitCode === EXIT.stopped) return undefined;
    throw error;
  });
  const counts = last ? countItems(last) : { total: 0, completed: 0, failed: 0, remaining: 0 };
  stream.emit({ type: 'run:finished', ...end, ms: io.now() - started, ...counts });
  return end;
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
  const { reason, ...end } = endByError(error);
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
  io: Io,
): Promise<Counts | undefined> {
  const found = await openAndCheck(paths, overridesIn(options));
  refuseEmpty(found, options);
  const { count, tasks } = found.snapshot;
  if (cellsAt(found.snapshot, 'done').length === count * tasks.length) return countItems(found.snapshot);
  await requireAgents(found.shift, agents, io);
  await found.files.prepare();
  return undefined;
}

/** A run that was killed right after its last item has left its processes, and the Progress of the batch before. */
async function clearUp(files: ShiftFiles, counts: Counts, holder: Holder): Promise<void> {
  const { name, folder, runLock } = files.paths;
  if (existsSync(runLock)) {
    await files.prepare();
    using _running = await takeRunLock(runLock, name, holder);
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

/** Nothing to work on is bad input, and each has its own message (rule M7). */
function refuseEmpty({ shift, snapshot }: OpenShift, choice: Choice): void {
  const { task, rows } = choice;
  if (shift.tasks.length === 0) {
    const hint = `\`nightshift add-task ${shift.name} TASK\` adds one`;
    throw new NightshiftError('nothing-to-do', `${shift.name} has no tasks`, hint, shift.taskOrder);
  }
  if (snapshot.count === 0) {
    const hint = `\`nightshift table ${shift.name} add NAME=VALUE\` or \`import FILE.csv\` adds some`;
    throw new NightshiftError('nothing-to-do', `${shift.name} has no items`, hint, { file: shift.table, line: 1 });
  }
  if (task !== undefined) findTask(shift, task);
  if (rows !== undefined) parseRow(String(rows.from + 1), snapshot.count);
  refuseNoMatch(snapshot, choice);
}

export async function requireAgents(shift: Shift, agents: AgentSet, io: Io): Promise<void> {
  const environmentFor = ({ credentials }: Agent) =>
    agentEnvironment({ caller: io.env, passEnv: credentials, secrets: shift.secrets, own: {} });
  try {
    await checkAgents(shift, agents.find, agentNames, environmentFor);
  } catch (error) {
    throw error instanceof NightshiftError ? error.noting(shift.warnings) : error;
  }
}

function fingerprint({ name, version, settings }: Task): string {
  return JSON.stringify([name, version, settings]);
}

/** What the command line says over the files. */
export function overridesIn({ agent, model, limits = {} }: Asked): Overrides {
  return { agent, model, limits };
}

/** For the crash tests: ends this process as hard as `kill -9` the n-th time it comes to a named point. */
export function failpointFrom(env: Io['env']): (name: string) => void {
  const [wanted, nth = '1'] = (env.NIGHTSHIFT_CRASH_AT ?? '').split('#');
  if (!wanted) return () => {};
  let left = Number(nth);
  return (name) => {
    if (name === wanted && --left === 0) process.kill(process.pid, 'SIGKILL');
  };
}

/** The same checks as before a run, and what it would be about; nothing is written, no agent is started. */
export async function planFolder(
  paths: ShiftPaths,
  options: Asked,
  io: Io,
): Promise<OpenShift & { selection: Selection; hasModel: boolean }> {
  const opened = await openAndCheck(paths, overridesIn(options));
  refuseEmpty(opened, options);
  await using agents = new AgentSet();
  await requireAgents(opened.shift, agents, io);
  return {
    ...opened,
    selection: selector(opened.snapshot, options)(opened.snapshot),
    hasModel: opened.shift.tasks.some((task) => hasModel(task, agents.find)),
  };
}
