import { AgentSet } from '../agents/registry.ts';
import { runCheck } from '../checks/checks.ts';
import { NightshiftError } from '../core/errors.ts';
import type { NightshiftEvent } from '../core/events.ts';
import { askedCriteria, makeOrder } from '../core/order.ts';
import type { Shift, Task } from '../core/shift.ts';
import { Course } from '../engine/course.ts';
import { findRow } from '../engine/find-row.ts';
import { perform } from '../engine/item.ts';
import type { RunParts } from '../engine/run-state.ts';
import { handedQaPrompt } from '../roles/hand-prompt.ts';
import { byName } from '../roles/prompt.ts';
import { type OpenBatch, type OpenItem, writePrompt } from '../store/batch-file.ts';
import type { ShiftPaths } from '../store/layout.ts';
import { ShiftFiles } from '../store/shift-files.ts';
import type { Snapshot } from '../store/store.ts';
import { EventStream, newRun } from './event-stream.ts';
import type { Io } from './io.ts';
import { openAndCheck, reloader } from './open-shift.ts';
import { watchFolders } from './watch-folders.ts';

/** Agents that are started by hand are nobody's child here: what runs is theirs to stop. */
const NEVER = new AbortController().signal;

/** The engine's parts for a command that does one piece of a run and ends. */
export interface ByHand extends AsyncDisposable {
  readonly parts: RunParts;
  readonly shift: Shift;
  course(): Promise<Course>;
}

/** `batch`: the one that is open; its items are judged by what they were claimed with (rule D5), so that is read. */
export async function openByHand(
  paths: ShiftPaths,
  io: Io,
  batch?: OpenBatch,
  onEvent: (event: NightshiftEvent) => void = () => {},
): Promise<ByHand> {
  const kept = batch && (await new ShiftFiles(paths).putBack(batch.task, batch.text));
  const run = newRun(new Date(io.now()).toISOString());
  const stream = await new EventStream(run, paths, io, { onEvent }).open();
  const { files, store, shift } = await openAndCheck(paths, { emit: stream.emit, isShared: true });
  if (batch && kept !== undefined) {
    const what = 'Configuration or Validation of a task in flight';
    stream.emit({ type: 'edit:reverted', task: batch.task, file: paths.task(batch.task), what, kept });
  }
  const agents = new AgentSet();
  const parts: RunParts = {
    store,
    documents: files,
    load: reloader(files, store, {}),
    agents: ({ secrets }) => ({ find: agents.find, secrets, caller: io.env }),
    check: runCheck,
    folders: watchFolders(paths, io, (message) => stream.emit({ type: 'run:warning', message })),
    perform,
    emit: stream.emit,
    listen: stream.listen,
    inFlight: () => stream.running,
    flush: () => stream.flush(),
    checkKept: () => stream.checkKept(),
    history: stream.history,
    asked: new Map(),
    stop: { drain: NEVER, now: NEVER },
    select: () => ({ includes: () => true }),
    endLeftovers: async () => 0,
    now: io.now,
  };
  return {
    parts,
    shift,
    course: async () => new Course(parts, shift, await files.folderId()),
    async [Symbol.asyncDispose]() {
      await stream[Symbol.asyncDispose]();
      await agents[Symbol.asyncDispose]();
    },
  };
}

/** Written when the dev has succeeded, and not before: until then nobody has the token of the qa. */
export async function writeQaPrompt(
  { shift }: ByHand,
  paths: ShiftPaths,
  task: Task,
  item: OpenItem & { readonly metadata: Readonly<Record<string, string>> },
  token: string,
  now: number,
): Promise<string> {
  const order = makeOrder(shift, task, { role: 'qa', item, key: item.key, token, now });
  const texts = askedCriteria(order).map(({ text }) => text);
  return writePrompt(paths, promptName(item, 'qa'), byName(handedQaPrompt(order, texts, token)));
}

export function promptName({ index }: Pick<OpenItem, 'index'>, role: 'dev' | 'qa'): string {
  return `row-${index + 1}-${role}.md`;
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
