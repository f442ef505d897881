import { randomBytes } from 'node:crypto';
import { AgentSet } from '../../agents/registry.ts';
import { runCheck } from '../../checks/checks.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { Emit, NightshiftEvent } from '../../core/model/events.ts';
import type { Outcome, Usage } from '../../core/model/model.ts';
import { localOrder, makeOrder } from '../../core/model/order.ts';
import { RowLabels } from '../../core/model/row-labels.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import type { ReachedLimit } from '../../core/schedule/budget.ts';
import { testId } from '../../core/workspace/branch-name.ts';
import type { Stop } from '../../engine/ports.ts';
import { workingFolder } from '../../engine/worker/work.ts';
import { LocalWorker } from '../../engine/worker/worker.ts';
import { refuseOpenBatch } from '../../store/folder/batch-file.ts';
import { InForce } from '../../store/folder/documents/in-force.ts';
import { InForceRecord } from '../../store/folder/documents/in-force-record.ts';
import { Transcripts } from '../../store/folder/journal/transcripts.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { takeRunLock } from '../../store/folder/run-lock.ts';
import { Watch } from '../../watch/watch.ts';
import { findTask } from '../find-task.ts';
import { type OpenShift, openAndCheck } from '../open-shift.ts';
import { findRowIndex } from '../rows.ts';
import { openSpending, type Spending } from '../spending.ts';
import type { World } from '../world.ts';
import { checkWith, settleBeforeStart } from './killed-run.ts';
import { keysOfWriters } from './open-files.ts';
import { overridesIn, type RunSettings, requireAgents } from './plan-run.ts';
import { processClock } from './process-time.ts';
import { protectFiles } from './protect-files.ts';
import { uncommittedLines } from './uncommitted.ts';
import { watchFolders } from './watch-folders.ts';
import { WorkspacesOnDemand } from './workspaces-on-demand.ts';

export interface TestOptions extends Pick<RunSettings, 'agent' | 'model' | 'limits'> {
  readonly task: string;
  /** 1-based. */
  readonly row: string;
  readonly onEvent: (event: NightshiftEvent) => void;
  readonly onWarning: (message: string) => void;
  /** Called right before the agents start. */
  readonly openStop: () => Stop & Disposable;
}

export type TestResult =
  /** A limit is used up: nothing was tried. */
  | { readonly kind: 'refused'; readonly limit: ReachedLimit }
  /** `last`: the outcome of the qa, or of a dev that never got that far. */
  | {
      readonly kind: 'tested';
      readonly exitCode: number;
      readonly index: number;
      /** The row's name, if it has one. */
      readonly label: string | undefined;
      /** Where the agent worked, if the task has a workspace; `after`: the task whose result it started with. */
      readonly workspace: { readonly folder: string; readonly after?: string } | undefined;
      readonly dev: Outcome;
      readonly last: Outcome;
      readonly usage: Usage;
    };

/**
 * Runs dev and qa on one row as a test: with its own key, without lessons, and without changing the table or the
 * manifest. Its cost counts for the shift and is in the journal.
 */
export async function testTask(paths: ShiftPaths, options: TestOptions, world: World): Promise<TestResult> {
  // The mark by which its processes are known.
  const key = `test-${randomBytes(14).toString('hex')}`;
  const holder = { pid: process.pid, since: new Date(world.now()).toISOString(), run: key };
  await settleBeforeStart(paths, holder, world, options.onEvent);
  await using agents = new AgentSet();
  await checkInput(paths, options, agents, world);
  using _lock = await takeRunLock(paths, holder);
  await using transcripts = new Transcripts(paths, world.now);
  let spending: Spending | undefined;
  let workspace: Extract<TestResult, { kind: 'tested' }>['workspace'];
  const emit = stamped(paths.name, key, world, options.onEvent);
  const emitAll: Emit = (happening) => {
    if (happening.type === 'transcript') return transcripts.add(happening);
    if (happening.type === 'usage:spent') spending?.add(happening);
    if (happening.type === 'workspace:opened') {
      workspace = happening;
      const missing = missingBefore(opened.shift, task, happening.after);
      if (missing !== undefined) options.onWarning(withoutEarlier(paths.name, missing, index + 1));
    }
    emit(happening);
  };
  const opened = await openAndCheck(paths, { ...overridesIn(options), emit: emitAll });
  const task = findTask(opened.shift, options.task);
  const index = findRowIndex(opened, options.row);
  const uncommitted = task.hasWorkspace ? await uncommittedLines(world, opened.shift, opened.store) : [];
  for (const warning of [...opened.shift.warnings, ...uncommitted]) options.onWarning(warning);
  await using open = await openSpending(world, paths, opened.shift.settings.limits);
  spending = open;
  if (open.reached) return { kind: 'refused', limit: open.reached };
  open.begin();
  using stop = options.openStop();
  const test = { paths, world, opened, task, index, key, agents, spending: open, stop, emit: emitAll };
  const { dev, last } = await workOn(test);
  const label = RowLabels.in(opened.shift, opened.snapshot)(index);
  return { kind: 'tested', exitCode: exitCodeOf(last, stop), index, label, workspace, dev, last, usage: open.usage };
}

/** The task right before this one in the workspace, if the workspace does not start with its result. */
function missingBefore({ tasks }: Shift, { name }: Task, after: string | undefined): string | undefined {
  const members = tasks.filter(({ hasWorkspace }) => hasWorkspace);
  const before = members[members.findIndex((each) => each.name === name) - 1]?.name;
  return before === after ? undefined : before;
}

function withoutEarlier(shift: string, task: string, row: number): string {
  const first = `\`nightshift test-task ${shift} ${task} --row ${row}\``;
  return `row ${row} has no result of ${task} yet, so this test starts without it; ${first} makes one for tests`;
}

/** Throws for wrong input before anything is written. */
async function checkInput(paths: ShiftPaths, options: TestOptions, agents: AgentSet, world: World): Promise<void> {
  const { shift, snapshot, files } = await openAndCheck(paths, overridesIn(options));
  await requireAgents({ ...shift, tasks: [findTask(shift, options.task)] }, agents, world);
  findRowIndex({ shift, snapshot }, options.row);
  refuseOpenBatch(paths, world.now());
  await files.prepare();
}

function stamped(shift: string, run: string, world: World, onEvent: TestOptions['onEvent']): Emit {
  let seq = 0;
  return (happening) => {
    const at = new Date(world.now()).toISOString();
    onEvent({ ...happening, at, run, seq: ++seq, shift } as NightshiftEvent);
  };
}

interface Test {
  readonly paths: ShiftPaths;
  readonly world: World;
  readonly opened: OpenShift;
  readonly task: Task;
  readonly index: number;
  readonly key: string;
  readonly agents: AgentSet;
  readonly spending: Spending;
  readonly stop: Stop;
  readonly emit: Emit;
}

/** Dev and then qa, with the same protection of files as in a run (rule D5), also if this is killed. */
async function workOn(test: Test): Promise<{ dev: Outcome; last: Outcome }> {
  const { paths, world, opened, task, index, key, stop, emit } = test;
  const { shift, store } = opened;
  const { secrets } = shift;
  const protection = protectFiles(paths, world, emit);
  await using _protected = { [Symbol.asyncDispose]: () => protection.end() };
  const folder = workingFolder(localOrder(orderOf(test, 'dev'), paths), secrets);
  await protection.begin([{ folder, globs: task.settings.protect }]);
  await using inForce = await holdDocuments(test);
  await using _atWork = inForce.documents.protect({ task: task.name, index });
  const clock = processClock(world.now);
  const failure = new AbortController();
  const shiftFiles = new Watch(clock);
  await using _watch = shiftFiles.open({
    changes: () => store.changes(),
    putBack: () => inForce.documents.putBack(),
    isThere: () => inForce.documents.isThere(),
    onFailure: (error) => failure.abort(error),
  });
  const warn = (message: string) => emit({ type: 'run:warning', message });
  const workspaces = new WorkspacesOnDemand({ paths, world, failpoint: () => {}, warn });
  const worker = new LocalWorker({
    place: paths,
    agents: { find: test.agents.find, caller: world.env },
    check: runCheck,
    folders: watchFolders(paths, world, warn),
    protection,
    workspaces,
    shiftFiles,
    clock,
    random: Math.random,
    secrets,
  });
  const signal = AbortSignal.any([stop.now, failure.signal, shiftFiles.enter(key, key)]);
  const call = { emit, signal, drain: stop.drain, spent: test.spending.spentUp };
  const dev = await worker.run(orderOf(test, 'dev'), call);
  const last = dev.to === 'qa' ? await worker.run(orderOf(test, 'qa'), call) : dev;
  await workspaces.lookOutside();
  failure.signal.throwIfAborted();
  await workspaces.end({ isRun: false });
  return { dev, last };
}

function orderOf({ opened, task, index, key }: Test, role: 'dev' | 'qa'): ReturnType<typeof makeOrder> {
  const { shift, snapshot } = opened;
  const label = RowLabels.in(shift, snapshot)(index) ?? `row ${index + 1}`;
  const id = task.hasWorkspace ? testId(snapshot.id(index)) : snapshot.id(index);
  const item = { id, index, metadata: snapshot.metadata(index), label: `test ${label}` };
  return makeOrder(shift, task, { role, key, checksPassed: role === 'qa', token: key, item });
}

/** Disposing of it ends the agents before it lets go of the documents. */
async function holdDocuments(test: Test): Promise<{ documents: InForce } & AsyncDisposable> {
  const { paths, world, opened, agents, emit } = test;
  const documents = await InForce.open(opened.files, {
    emit,
    now: world.now,
    check: checkWith(paths),
    record: new InForceRecord(paths),
    writers: keysOfWriters,
  });
  await documents.read();
  return {
    documents,
    async [Symbol.asyncDispose]() {
      await agents[Symbol.asyncDispose]();
      await documents.close();
    },
  };
}

function exitCodeOf(last: Outcome, { now }: Stop): number {
  if (now.aborted) return EXIT.interrupted;
  if (last.to === undefined) return last.trouble?.remedy === undefined ? EXIT.stopped : EXIT.agentMissing;
  return last.to === 'done' ? EXIT.done : EXIT.failedItems;
}
