import { AgentSet } from '../../agents/registry.ts';
import { runCheck } from '../../checks/checks.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import type { Emit, NightshiftEvent } from '../../core/model/events.ts';
import { RowLabels } from '../../core/model/row-labels.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import { RunContext } from '../../engine/context.ts';
import { RunControl } from '../../engine/control.ts';
import { findRow } from '../../engine/find-row.ts';
import type { RunPorts } from '../../engine/ports.ts';
import { RunClock } from '../../engine/run-clock.ts';
import { Running } from '../../engine/running.ts';
import { LocalWorker } from '../../engine/worker/worker.ts';
import type { EquippedSite } from '../../engine/worker/worker-ports.ts';
import type { OpenBatch, OpenItem } from '../../store/folder/batch-file.ts';
import { InForce } from '../../store/folder/documents/in-force.ts';
import { InForceRecord, readRecord, textsOf } from '../../store/folder/documents/in-force-record.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { lockForCommand } from '../../store/folder/run-lock.ts';
import type { Snapshot } from '../../store/store.ts';
import { Watch } from '../../watch/watch.ts';
import { compileOnce } from '../compile-once.ts';
import { openAndCheck, reloader } from '../open-shift.ts';
import { EventStream, newRun } from '../run/event-stream.ts';
import { checkWith, lostEnv } from '../run/killed-run.ts';
import { processClock } from '../run/process-time.ts';
import { protectFiles } from '../run/protect-files.ts';
import { watchFolders } from '../run/watch-folders.ts';
import type { World } from '../world.ts';

/** A command does not wait as long for a file as a run does. */
const FILE_PATIENCE_MS = 10_000;

/** The engine's ports for a command that does one piece of a run and ends. */
export interface ByHand extends AsyncDisposable {
  readonly ports: RunPorts;
  readonly shift: Shift;
  /** Where the checks of devs run that the engine did not start. */
  readonly site: EquippedSite;
  context(): Promise<RunContext>;
}

export interface HandOptions {
  /** The open batch: its items are done and judged by what was in force when it was opened (rule D5). */
  readonly batch?: OpenBatch;
  /** A batch will be opened: what is in force now is recorded before its items are claimed. */
  readonly opens?: boolean;
  readonly onEvent?: (event: NightshiftEvent) => void;
}

export async function openByHand(paths: ShiftPaths, world: World, options: HandOptions = {}): Promise<ByHand> {
  const run = newRun(new Date(world.now()).toISOString());
  const { batch, opens = false, onEvent = () => {} } = options;
  let labelOf: (item: string, index: number | undefined) => string | undefined = () => undefined;
  const labels = { labelOf: (item: string, index: number | undefined) => labelOf(item, index) };
  const stream = await new EventStream(run, paths, world, { onEvent, ...labels }).open();
  const { emit } = stream;
  // First: what was edited meanwhile is put back before anything is read.
  const held = batch && (await holdBatch(paths, batch, emit, world));
  const { files, store, shift, snapshot } = await openAndCheck(paths, { emit, isShared: true });
  const rowLabel = RowLabels.in(shift, snapshot);
  labelOf = (item, index) => {
    return index !== undefined && index < snapshot.count && snapshot.id(index) === item ? rowLabel(index) : undefined;
  };
  const inForce =
    held ??
    (await InForce.open(files, {
      emit,
      now: world.now,
      check: checkWith(paths),
      isByHand: true,
      ...(opens ? { record: new InForceRecord(paths) } : {}),
    }));
  const agents = new AgentSet();
  const protection = protectFiles(paths, world, stream.emit);
  // As the files were when the batch was opened.
  if (batch) await protection.resume();
  const clock = new RunClock(processClock(world.now));
  const site: EquippedSite = {
    place: paths,
    agents: { find: agents.find, caller: world.env },
    check: runCheck,
    folders: watchFolders(paths, world, (message) => stream.emit({ type: 'run:warning', message })),
    protection,
    clock,
    random: Math.random,
    secrets: shift.secrets,
  };
  const ports: RunPorts = {
    store,
    documents: inForce,
    load: reloader(inForce, store, compileOnce({})),
    worker: (secrets) => new LocalWorker({ ...site, secrets }),
    findAgent: agents.find,
    shiftFiles: new Watch(clock),
    protection,
    events: {
      emit: stream.emit,
      listen: stream.listen,
      flush: () => stream.flush(),
      checkKept: () => stream.checkKept(),
      history: stream.history,
    },
    control: new RunControl(),
    running: new Running(),
    clock,
    scope: { select: () => ({ includes: () => true }) },
    owner: run,
    filePatienceMs: FILE_PATIENCE_MS,
  };
  return {
    ports,
    shift,
    site,
    context: async () => new RunContext(ports, shift, await files.folderId()),
    async [Symbol.asyncDispose]() {
      await protection.leave();
      await stream[Symbol.asyncDispose]();
      await agents[Symbol.asyncDispose]();
    },
  };
}

/** Held while a batch is opened or closed, as a run holds it. */
export async function lockForBatch(world: World, paths: ShiftPaths, verb: 'open' | 'close'): Promise<Disposable> {
  await new ShiftFiles(paths).prepare();
  return lockForCommand(paths, `batch ${verb}`, world.now());
}

async function holdBatch(paths: ShiftPaths, batch: OpenBatch, emit: Emit, { now }: World): Promise<InForce> {
  const files = new ShiftFiles(paths);
  const record = new InForceRecord(paths);
  const found = readRecord(paths);
  if (found?.isEnvLost) throw lostEnv(paths, 'restore .env as it was when the batch was opened');
  // Without the record, at least the task is known.
  const texts = found?.texts ?? new Map([...textsOf(paths, await files.read()), [paths.task(batch.task), batch.text]]);
  const inForce = await InForce.open(files, { emit, now, check: checkWith(paths), isByHand: true, record }, texts);
  inForce.protect();
  await inForce.putBack();
  return inForce;
}

export function requireTaskIn(shift: Shift, name: string): Task {
  const task = shift.tasks.find((each) => each.name === name);
  if (task) return task;
  throw new NightshiftError(
    'not-found',
    `${name} is not in the Task Order any more`,
    'close the batch: its items go back',
  );
}

/** A row whose metadata was edited in place is still the same (rule T7), unless it is another of the batch. */
export function locate(snapshot: Snapshot, { items }: OpenBatch, { id, index }: OpenItem): number | undefined {
  const row = findRow(snapshot, id, index);
  if (row !== undefined || index >= snapshot.count) return row;
  const there = snapshot.id(index);
  return items.some((each) => each.id === there) ? undefined : index;
}
