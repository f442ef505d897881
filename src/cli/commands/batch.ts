import { join, relative } from 'node:path';
import { EXIT, NightshiftError } from '../../core/errors.ts';
import type { NightshiftEvent } from '../../core/events.ts';
import { nearest } from '../../core/names.ts';
import { makeOrder } from '../../core/order.ts';
import { statusAt } from '../../core/plan.ts';
import { claimBatch } from '../../engine/batch.ts';
import { claimRows } from '../../engine/flight.ts';
import { refuseUnwritten } from '../../engine/preflight.ts';
import { giveBackStale } from '../../engine/run.ts';
import { chooseTurn, settleTurn } from '../../engine/turn.ts';
import { handedDevPrompt } from '../../roles/hand-prompt.ts';
import { byName } from '../../roles/prompt.ts';
import {
  hashToken,
  isStale,
  newToken,
  type OpenBatch,
  type OpenItem,
  readBatch,
  refuseOpenBatch,
  removeBatch,
  writeBatch,
  writePrompt,
} from '../../store/batch-file.ts';
import { journalSize, readJournal } from '../../store/journal.ts';
import { openShift, type ShiftPaths } from '../../store/layout.ts';
import { takeRunLock } from '../../store/run-lock.ts';
import { ShiftFiles } from '../../store/shift-files.ts';
import type { Snapshot } from '../../store/store.ts';
import { count } from '../../views/plain.ts';
import { type ByHand, locate, openByHand, promptName, requireTaskIn, writeQaPrompt } from '../by-hand.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

const VERBS = ['open', 'close'];

/** The deterministic parts of a batch, for whoever starts the agents themselves (rules O3, O5). */
export async function run(io: Io, [verb = '', name = '']: readonly string[], options: Options): Promise<number> {
  if (!VERBS.includes(verb)) {
    const near = nearest(verb, VERBS);
    const hint = near
      ? `did you mean ${near}?`
      : 'write `nightshift batch open SHIFT` or `nightshift batch close SHIFT`';
    throw new NightshiftError('usage', `batch does not know ${JSON.stringify(verb)}`, hint);
  }
  const paths = openShift(requireRoot(io), name);
  await new ShiftFiles(paths).prepare();
  const since = new Date(io.now()).toISOString();
  using _lock = await takeRunLock(paths.runLock, paths.name, { pid: process.pid, since, run: `batch ${verb}` });
  return await (verb === 'open' ? openBatch(io, paths, options) : closeBatch(io, paths, options));
}

async function openBatch(io: Io, paths: ShiftPaths, options: Options): Promise<number> {
  if (!options.takeOver) refuseOpenBatch(paths, io.now());
  await removeBatch(paths);
  await using hand = await openByHand(paths, io);
  const { parts, shift } = hand;
  for (const each of shift.tasks) refuseUnwritten(each);
  // The columns of outputs are there before the first claim.
  await parts.load();
  const { stale } = await giveBackStale(parts.store);
  const course = await hand.course();
  const snapshot = await parts.store.snapshot();
  const turn = chooseTurn(course, snapshot);
  if (!turn) {
    const { exitCode, reason } = await course.finished(snapshot);
    io.print(options.json ? JSON.stringify({ left: false, reason }) : `Nothing is left to do: ${reason}.`);
    return exitCode;
  }
  const { task, rows, size, isWaiting } = turn;
  const journalFrom = await journalSize(paths.journal);
  const flights = isWaiting
    ? await claimRows(parts, shift, task, snapshot, rows)
    : await claimBatch(parts, shift, task, snapshot, rows, size);
  const items: (OpenItem & { prompt: string; role: 'dev' | 'qa' })[] = [];
  for (const { claim, metadata } of flights) {
    const token = newToken();
    const role = isWaiting ? ('qa' as const) : ('dev' as const);
    const lastFailure = parts.history.of(task.name, claim.id)?.failure;
    const item = { id: claim.id, index: claim.row, metadata };
    const order = makeOrder(shift, task, { role, item, token, now: io.now(), lastFailure });
    const open = { id: claim.id, index: claim.row, key: order.key };
    const prompt = isWaiting
      ? await writeQaPrompt(hand, paths, task, { ...open, metadata }, token, io.now())
      : await writePrompt(paths, promptName(open, 'dev'), byName(handedDevPrompt(order, token)));
    items.push({ ...open, [role]: hashToken(token), role, prompt: relative(paths.root, prompt) });
    if (isWaiting) continue;
    const subject = { task: task.name, index: claim.row, item: claim.id };
    parts.emit({ type: 'dev:started', ...subject, agent: 'by hand', key: order.key, version: order.version });
  }
  await parts.flush();
  await writeBatch(paths, {
    task: task.name,
    size,
    isWaiting,
    opened: new Date(io.now()).toISOString(),
    timeoutMs: task.settings.timeoutMs,
    journalFrom,
    text: task.text,
    tools: task.settings.tools,
    items: items.map(({ prompt: _, role: __, ...item }) => item),
  });
  const told = items.map(({ index, role, prompt }) => ({ index, role, prompt, ...laterPrompt(paths, index, role) }));
  if (options.json) io.print(JSON.stringify({ left: true, task: task.name, size, recovered: stale, items: told }));
  else for (const line of openLines(shift.name, task.name, stale, told)) io.print(line);
  return EXIT.done;
}

/** Where the prompt of its qa will be, once its dev has succeeded. */
function laterPrompt(paths: ShiftPaths, index: number, role: 'dev' | 'qa'): { qaPrompt?: string } {
  return role === 'qa' ? {} : { qaPrompt: relative(paths.root, join(paths.prompts, promptName({ index }, 'qa'))) };
}

function openLines(
  shift: string,
  task: string,
  stale: number,
  items: readonly { index: number; role: string; prompt: string; qaPrompt?: string }[],
): string[] {
  return [
    ...(stale > 0 ? [`${count(stale, 'item')} of an interrupted batch went back to todo.`] : []),
    `Batch of ${task}: ${count(items.length, 'item')}. Each has a file with its prompt.`,
    ...items.map(({ index, role, prompt }) => `index ${index}: ${role}, ${prompt}`),
    ...items.flatMap(({ index, qaPrompt }) =>
      qaPrompt === undefined ? [] : [`index ${index}: qa, when its dev has written qa, ${qaPrompt}`],
    ),
    `Start an agent for each with its prompt; when they are back, \`nightshift batch close ${shift}\` says what is next.`,
  ];
}

async function closeBatch(io: Io, paths: ShiftPaths, options: Options): Promise<number> {
  const found = readBatch(paths);
  if (!found) {
    throw new NightshiftError(
      'nothing-to-do',
      `no batch of ${paths.name} is open`,
      `\`nightshift batch open ${paths.name}\` opens one`,
    );
  }
  const { batch } = found;
  const said: NightshiftEvent[] = [];
  await using hand = await openByHand(paths, io, batch, (event) => said.push(event));
  const { parts, shift } = hand;
  const task = requireTaskIn(shift, batch.task);
  const recorded = await recordedSince(paths, batch.task, batch.journalFrom);
  const snapshot = await parts.store.snapshot();
  const ends = batch.items.map((item) => ({ item, ...endOf(snapshot, batch, item, recorded) }));
  const open = ends.filter(({ end }) => end === 'open');
  if (open.length > 0 && !options.giveBack && !isStale(found, io.now())) throw stillOpen(paths, batch.task, open);
  await removeBatch(paths);
  await putBackForged(hand, batch.task, open);
  await giveBackStale(parts.store);
  const of = (wanted: string) => ends.filter(({ end }) => end === wanted).length;
  const end = { done: of('done'), failed: of('failed'), returned: of('open') + of('withdrawn'), compacted: false };
  const course = await hand.course();
  await settleTurn(course, { task, size: batch.size, isWaiting: batch.isWaiting }, end);
  const after = await parts.store.snapshot();
  const left = course.isLeft(after);
  const progress = said.find((event) => event.type === 'progress');
  const { done = 0, total = 0 } = progress?.type === 'progress' ? progress : {};
  if (options.json) io.print(JSON.stringify({ progress: { done, total }, left, ...end }));
  else {
    io.print(`Batch of ${batch.task} closed: ${end.done} done, ${end.failed} failed, ${end.returned} given back.`);
    io.print(`Progress: ${done}/${total}`);
    io.print('Compacted: false');
    io.print(
      left ? `Work is left: \`nightshift batch open ${paths.name}\` opens the next batch.` : 'Nothing is left to do.',
    );
  }
  return EXIT.done;
}

/** `id`: of its row as it is now; absent where there is none. */
interface Ended {
  readonly end: 'done' | 'failed' | 'withdrawn' | 'open';
  readonly status: string;
  readonly isForged: boolean;
  readonly id?: string;
}

/** Only what was written with a token counts; another `qa` or `done` is not believed, and goes back with the close. */
function endOf(snapshot: Snapshot, batch: OpenBatch, item: OpenItem, recorded: ReadonlySet<string>): Ended {
  const row = locate(snapshot, batch, item);
  if (row === undefined) return { end: 'withdrawn', status: 'gone', isForged: false };
  const status = statusAt(snapshot, row, snapshot.tasks.indexOf(batch.task));
  const id = snapshot.id(row);
  const isWritten = recorded.has(`${id} ${status}`) || recorded.has(`${item.id} ${status}`);
  if ((status === 'done' || status === 'failed') && isWritten) return { end: status, status, id, isForged: false };
  // A person may take an item away, but not pass it.
  if (status === 'todo' || status === 'failed') return { end: 'withdrawn', status, id, isForged: false };
  return {
    end: 'open',
    status,
    id,
    isForged: status === 'done' || (status === 'qa' && item.dev !== undefined && !isWritten),
  };
}

async function putBackForged(
  { parts }: ByHand,
  task: string,
  open: readonly (Ended & { item: OpenItem })[],
): Promise<void> {
  const forged = open.filter(({ isForged }) => isForged);
  if (forged.length === 0) return;
  await parts.store.reset(forged.map(({ id = '' }) => ({ id, task })));
  const what = forged
    .map(({ item, status }) => `row ${item.index + 1}: ${task} from in_progress to ${status}`)
    .join('; ');
  parts.emit({ type: 'edit:reverted', task, file: 'table.csv', what });
}

async function recordedSince(paths: ShiftPaths, task: string, from: number): Promise<Set<string>> {
  const recorded = new Set<string>();
  for await (const event of readJournal(paths.journal, from)) {
    if (event.type === 'item:recorded' && event.task === task) recorded.add(`${event.item} ${event.to}`);
  }
  return recorded;
}

function stillOpen(paths: ShiftPaths, task: string, open: readonly (Ended & { item: OpenItem })[]): NightshiftError {
  const list = open
    .map(({ item, status, isForged }) => {
      if (isForged) return `index ${item.index} is ${status}, which nobody with its token wrote`;
      const role = status === 'qa' ? 'qa' : 'dev';
      return `index ${item.index} is ${status} (${role}, ${relative(paths.root, join(paths.prompts, promptName(item, role)))})`;
    })
    .join('; ');
  return new NightshiftError(
    'nothing-to-do',
    `${count(open.length, 'item')} of the batch of ${task} ${open.length === 1 ? 'has' : 'have'} not ended: ${list}`,
    `start the agent of each with its prompt; or, if that is in vain, \`nightshift batch close ${paths.name} --give-back\``,
  );
}
