import { join, relative } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { itemKey } from '../../core/model/identity.ts';
import type { Shift } from '../../core/model/shift.ts';
import { count } from '../../core/text/count.ts';
import type { RunContext } from '../../engine/context.ts';
import { refuseUnwritten } from '../../engine/preflight.ts';
import { protectedPlaces } from '../../engine/protected-places.ts';
import { claimBatch } from '../../engine/schedule/batches.ts';
import { chooseTurn, type Turn } from '../../engine/schedule/turn.ts';
import { batchLease, type OpenItem, removeBatch, writeBatch } from '../../store/folder/batch-file.ts';
import { InForceRecord } from '../../store/folder/documents/in-force-record.ts';
import { journalEnd } from '../../store/folder/journal/journal-reader.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { hashToken, newToken } from '../../store/folder/token.ts';
import type { Snapshot } from '../../store/store.ts';
import { refuseEmpty } from '../refuse-empty.ts';
import { settleKilledRun } from '../run/killed-run.ts';
import { refuseLeftItems } from '../run/left-items.ts';
import { refuseSandbox } from '../run/require-sandbox.ts';
import type { World } from '../world.ts';
import { lockForBatch, openByHand } from './by-hand.ts';
import { callingProgram } from './calling-program.ts';
import { refuseToOpen } from './owner.ts';
import { promptName, writeDevPrompt, writeEnvironment, writeQaPrompt } from './prompts.ts';
import { steeringAtOpening } from './steering-files.ts';

/** An item of the batch, for the program or person that starts its agent. */
interface BatchItem {
  readonly index: number;
  readonly role: 'dev' | 'qa';
  readonly prompt: string;
  /** Where the prompt of its qa will be, once its dev has succeeded. */
  readonly qaPrompt?: string;
}

export interface OpenedBatch {
  readonly task: string;
  readonly size: number;
  /** How many items of an interrupted batch went back to `todo`. */
  readonly recovered: number;
  readonly items: readonly BatchItem[];
  readonly notes: readonly string[];
}

/** No batch was opened: nothing is left to do, or a limit of the shift is used up. */
export type NoBatch =
  | { readonly isLimit: false; readonly reason: string; readonly exitCode: number }
  | { readonly isLimit: true; readonly reason: string };

export interface OpenBatchOptions {
  /** You say that no agent works on the open batch any more. */
  readonly takeOver?: boolean;
  readonly onEvent: (event: NightshiftEvent) => void;
}

/** Claims the items of the next batch and writes their prompts, for agents that are started elsewhere (rule O3). */
export async function openBatch(
  world: World,
  paths: ShiftPaths,
  { takeOver = false, onEvent }: OpenBatchOptions,
): Promise<OpenedBatch | NoBatch> {
  using _lock = await lockForBatch(world, paths, 'open');
  const caller = callingProgram(world);
  refuseToOpen(paths, caller, world.now(), takeOver);
  await settleKilledRun(paths, world, onEvent);
  const steering = steeringAtOpening(paths, world.env);
  await removeBatch(paths);
  await using hand = await openByHand(paths, world, { opens: true });
  const { ports, shift } = hand;
  const found = await ports.store.snapshot();
  refuseEmpty(shift, found.count);
  await refuseLeftItems(paths, found, world);
  refuseWorkspaces(shift);
  for (const each of shift.tasks) {
    refuseUnwritten(each);
    refuseSandbox(each);
  }
  // The columns of outputs are there before the first claim.
  await ports.load();
  const stale = await ports.store.giveBackStale(world.now());
  using context = await hand.context();
  const snapshot = await ports.store.snapshot();
  const chosen = chooseTurn(context, snapshot);
  if (!chosen) {
    await new InForceRecord(paths).remove();
    return { isLimit: false, ...(await context.finished(snapshot)) };
  }
  context.budget.check();
  const { reason } = context.budget;
  if (reason !== undefined) return { isLimit: true, reason };
  const turn = oneByOne(chosen);
  const { task, size, isWaiting } = turn;
  await ports.protection.begin(protectedPlaces(shift, snapshot, (row) => turn.rows.includes(row)));
  const journalFrom = journalEnd(paths.journal);
  const { open, items } = await claim(context, paths, turn, snapshot, caller.opener?.session !== undefined);
  await writeBatch(paths, {
    task: task.name,
    size,
    isWaiting,
    opened: new Date(world.now()).toISOString(),
    lease: batchLease(caller.opener, world.now() + task.settings.timeoutMs),
    timeoutMs: task.settings.timeoutMs,
    ...(caller.opener === undefined ? {} : { opener: caller.opener }),
    ...(journalFrom === undefined ? {} : { journalFrom }),
    text: task.text,
    tools: task.settings.tools,
    steering,
    items: open,
  });
  return {
    task: task.name,
    size,
    recovered: stale,
    items,
    notes: notesOf(turn, chosen.rows.length - turn.rows.length),
  };
}

/** Items that wait for their qa are judged one at a time (rule P6), unless the task says otherwise. */
function oneByOne(turn: Turn): Turn {
  const isOne = turn.isWaiting && !turn.task.settings.qaParallel;
  return isOne ? { ...turn, rows: turn.rows.slice(0, 1) } : turn;
}

async function claim(
  context: RunContext,
  paths: ShiftPaths,
  turn: Turn,
  snapshot: Snapshot,
  hasEnvironment: boolean,
): Promise<{ open: OpenItem[]; items: BatchItem[] }> {
  const { shift, ports } = context;
  const { task, rows, isWaiting } = turn;
  const claimed = await claimBatch(context, turn, { shift, task, snapshot, rows });
  const desk = { paths, shift, task };
  const role = isWaiting ? 'qa' : 'dev';
  const open: OpenItem[] = [];
  const items: BatchItem[] = [];
  await writeEnvironment(desk);
  for (const { claim, metadata } of claimed) {
    const token = newToken();
    const { id, row: index } = claim;
    const key = itemKey(shift.identity, task.name, id);
    const item = { id, index, key, [role]: hashToken(token), ...(isWaiting ? { isQaNamed: true } : {}) };
    open.push(item);
    const lastFailure = ports.events.history.of(task.name, id)?.failure;
    const file = isWaiting
      ? await writeQaPrompt(desk, { ...item, metadata }, token)
      : await writeDevPrompt(desk, { ...item, metadata }, token, { hasEnvironment, lastFailure });
    const qaPrompt = relative(paths.root, join(paths.prompts, promptName(item, 'qa')));
    items.push({ index, role, prompt: relative(paths.root, file), ...(isWaiting ? {} : { qaPrompt }) });
    const subject = { task: task.name, index, item: id };
    if (!isWaiting)
      ports.events.emit({ type: 'dev:started', ...subject, agent: 'by hand', key, version: task.version });
  }
  await ports.events.flush();
  return { open, items };
}

function notesOf({ task, isWaiting }: Turn, waiting: number): string[] {
  const { qaRetries } = task.settings;
  return [
    ...(isWaiting && waiting > 0
      ? [`${count(waiting, 'more item')} at qa, which the next batches judge one by one`]
      : []),
    ...(qaRetries > 0
      ? [`qa-retries: ${qaRetries} counts as 0 in batches by hand: an item that a qa fails is failed`]
      : []),
  ];
}

/** Agents that Nightshift did not start would all work in `working-dir` itself. */
function refuseWorkspaces({ name, tasks }: Shift): void {
  const task = tasks.find(({ hasWorkspace }) => hasWorkspace);
  if (task === undefined) return;
  const hint = `run it with \`nightshift start ${name}\`, or inside OpenCode or Claude Code with \`/nightshift-start ${name} background\``;
  const message =
    'this shift gives each row a workspace of its own, which only a run can make and a batch by hand lacks';
  throw new NightshiftError('usage', message, hint, task.place('workspace'));
}
