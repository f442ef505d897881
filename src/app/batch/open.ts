import { join, relative } from 'node:path';
import type { Io } from '../../cli/io.ts';
import type { Options } from '../../cli/program.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { itemKey } from '../../core/model/identity.ts';
import { refuseUnwritten } from '../../engine/preflight.ts';
import { protectedPlaces } from '../../engine/protected-places.ts';
import { claimBatch } from '../../engine/schedule/batch.ts';
import { chooseTurn, type Turn } from '../../engine/schedule/batch-turn.ts';
import { claimRows } from '../../engine/schedule/lease.ts';
import { batchLease, type OpenItem, removeBatch, writeBatch } from '../../store/folder/batch-file.ts';
import { InForceRecord } from '../../store/folder/documents/in-force-record.ts';
import { journalEnd } from '../../store/folder/journal/journal-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { hashToken, newToken } from '../../store/folder/token.ts';
import type { Snapshot } from '../../store/store.ts';
import { count, plainLines } from '../../views/plain.ts';
import { refuseEmpty } from '../refuse-empty.ts';
import { settleKilledRun } from '../run/killed-run.ts';
import { type ByHand, openByHand } from './by-hand.ts';
import { callingProgram } from './calling-program.ts';
import { refuseToOpen } from './owner.ts';
import { promptName, writeDevPrompt, writeEnvironment, writeQaPrompt } from './prompts.ts';
import { steeringAtOpening } from './steering-files.ts';

/** What whoever starts the agents is told about one item. */
interface Told {
  readonly index: number;
  readonly role: 'dev' | 'qa';
  readonly prompt: string;
  /** Where the prompt of its qa will be, once its dev has succeeded. */
  readonly qaPrompt?: string;
}

export async function openBatch(io: Io, paths: ShiftPaths, options: Options): Promise<number> {
  const caller = callingProgram(io);
  refuseToOpen(paths, caller, io.now(), options.takeOver === true);
  await settleKilledRun(paths, io, (event) => warnOfEdit(io, event));
  const steering = steeringAtOpening(paths, io.env);
  await removeBatch(paths);
  await using hand = await openByHand(paths, io, { opens: true });
  const { parts, shift } = hand;
  refuseEmpty(shift, (await parts.store.snapshot()).count);
  for (const each of shift.tasks) refuseUnwritten(each);
  // The columns of outputs are there before the first claim.
  await parts.load();
  const stale = await parts.store.giveBackStale(io.now());
  using course = await hand.course();
  const snapshot = await parts.store.snapshot();
  const chosen = chooseTurn(course, snapshot);
  if (!chosen) {
    await new InForceRecord(paths).remove();
    const { exitCode, reason } = await course.finished(snapshot);
    io.print(options.json ? JSON.stringify({ left: false, reason }) : `Nothing is left to do: ${reason}.`);
    return exitCode;
  }
  course.limits.check();
  const { reason: limit } = course.limits;
  if (limit !== undefined) {
    const message = `no batch was opened: ${limit}; raise it in manager.md`;
    if (options.json) io.print(JSON.stringify({ left: true, reason: message }));
    else io.warn(message);
    return EXIT.stopped;
  }
  const turn = oneByOne(chosen);
  const { task, size, isWaiting } = turn;
  await parts.protection.begin(protectedPlaces(shift, snapshot, (row) => turn.rows.includes(row)));
  const journalFrom = journalEnd(paths.journal);
  const { items, told } = await claim(hand, paths, turn, snapshot, caller.opener?.session !== undefined);
  await writeBatch(paths, {
    task: task.name,
    size,
    isWaiting,
    opened: new Date(io.now()).toISOString(),
    lease: batchLease(caller.opener, io.now() + task.settings.timeoutMs),
    timeoutMs: task.settings.timeoutMs,
    ...(caller.opener === undefined ? {} : { opener: caller.opener }),
    ...(journalFrom === undefined ? {} : { journalFrom }),
    text: task.text,
    tools: task.settings.tools,
    steering,
    items,
  });
  const notes = notesOf(turn, chosen.rows.length - turn.rows.length);
  const opened = { left: true, task: task.name, size, recovered: stale, items: told };
  if (options.json) io.print(JSON.stringify({ ...opened, ...(notes.length > 0 ? { notes } : {}) }));
  else for (const line of openLines(shift.name, task.name, stale, told, notes)) io.print(line);
  return EXIT.done;
}

/** What waits for its qa is judged one at a time (rule P6): each in a batch of its own, unless the task says otherwise. */
function oneByOne(turn: Turn): Turn {
  const isOne = turn.isWaiting && !turn.task.settings.qaParallel;
  return isOne ? { ...turn, rows: turn.rows.slice(0, 1) } : turn;
}

async function claim(
  { parts, shift }: ByHand,
  paths: ShiftPaths,
  { task, rows, size, isWaiting }: Turn,
  snapshot: Snapshot,
  hasEnvironment: boolean,
): Promise<{ items: OpenItem[]; told: Told[] }> {
  const flights = isWaiting
    ? await claimRows(parts, shift, task, snapshot, rows)
    : await claimBatch(parts, shift, task, snapshot, rows, size);
  const desk = { paths, shift, task };
  const role = isWaiting ? 'qa' : 'dev';
  const items: OpenItem[] = [];
  const told: Told[] = [];
  await writeEnvironment(desk);
  for (const { claim, metadata } of flights) {
    const token = newToken();
    const { id, row: index } = claim;
    const key = itemKey(shift.identity, task.name, id);
    const item = { id, index, key, [role]: hashToken(token), ...(isWaiting ? { isQaNamed: true } : {}) };
    items.push(item);
    const lastFailure = parts.history.of(task.name, id)?.failure;
    const file = isWaiting
      ? await writeQaPrompt(desk, { ...item, metadata }, token)
      : await writeDevPrompt(desk, { ...item, metadata }, token, { hasEnvironment, lastFailure });
    const qaPrompt = relative(paths.root, join(paths.prompts, promptName(item, 'qa')));
    told.push({ index, role, prompt: relative(paths.root, file), ...(isWaiting ? {} : { qaPrompt }) });
    const subject = { task: task.name, index, item: id };
    if (!isWaiting) parts.emit({ type: 'dev:started', ...subject, agent: 'by hand', key, version: task.version });
  }
  await parts.flush();
  return { items, told };
}

function notesOf({ task, isWaiting }: Turn, waiting: number): string[] {
  const { qaRetries } = task.settings;
  return [
    ...(isWaiting && waiting > 0
      ? [`${count(waiting, 'more item')} at qa, which the next batches judge one by one`]
      : []),
    ...(qaRetries > 0 ? [`qa-retries: ${qaRetries} counts as 0 in batches by hand: what a qa fails is failed`] : []),
  ];
}

function openLines(
  shift: string,
  task: string,
  stale: number,
  items: readonly Told[],
  notes: readonly string[],
): string[] {
  const start = items.length === 1 ? 'Start this agent' : 'Start these agents, all in one message';
  return [
    ...(stale > 0 ? [`${count(stale, 'item')} of an interrupted batch went back to todo.`] : []),
    `Batch of ${task}: ${count(items.length, 'item')}. ${start}, each with its prompt file:`,
    ...items.map(({ index, role, prompt }) => `index ${index}: ${role}, ${prompt}`),
    `When ${items.length === 1 ? 'it has' : 'all have'} answered, run \`nightshift batch close ${shift}\`.`,
    ...notes.map((note) => `Note: ${note}.`),
  ];
}

export function warnOfEdit(io: Io, event: NightshiftEvent): void {
  if (event.type === 'edit:reverted') for (const line of plainLines(event)) io.warn(line);
}
