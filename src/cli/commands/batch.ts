import { join, relative } from 'node:path';
import { EXIT, NightshiftError } from '../../core/errors.ts';
import type { NightshiftEvent } from '../../core/events.ts';
import type { Usage } from '../../core/model.ts';
import { nearest } from '../../core/names.ts';
import { makeOrder } from '../../core/order.ts';
import { statusAt } from '../../core/plan.ts';
import { reportedUsage } from '../../core/reported-usage.ts';
import { claimBatch } from '../../engine/batch.ts';
import { claimRows } from '../../engine/flight.ts';
import { refuseUnwritten } from '../../engine/preflight.ts';
import { protectedPlaces } from '../../engine/protected-places.ts';
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
import { InForceRecord } from '../../store/in-force-record.ts';
import { journalEnd, readSince } from '../../store/journal-files.ts';
import { openShift, type ShiftPaths } from '../../store/layout.ts';
import { takeRunLock } from '../../store/run-lock.ts';
import { ShiftFiles } from '../../store/shift-files.ts';
import type { Snapshot } from '../../store/store.ts';
import { count, plainLines } from '../../views/plain.ts';
import { type ByHand, locate, openByHand, promptName, requireTaskIn, writeQaPrompt } from '../by-hand.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import { settleKilledRun } from '../killed-run.ts';
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
  using _lock = await takeRunLock(paths, { pid: process.pid, since, run: `batch ${verb}` });
  return await (verb === 'open' ? openBatch(io, paths, options) : closeBatch(io, paths, options));
}

async function openBatch(io: Io, paths: ShiftPaths, options: Options): Promise<number> {
  if (!options.takeOver) refuseOpenBatch(paths, io.now());
  await settleKilledRun(paths, io, (event) => warnOfEdit(io, event));
  await removeBatch(paths);
  await using hand = await openByHand(paths, io, { opens: true });
  const { parts, shift } = hand;
  for (const each of shift.tasks) refuseUnwritten(each);
  // The columns of outputs are there before the first claim.
  await parts.load();
  const { stale } = await giveBackStale(parts.store);
  const course = await hand.course();
  const snapshot = await parts.store.snapshot();
  const turn = chooseTurn(course, snapshot);
  if (!turn) {
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
  const { task, rows, size, isWaiting } = turn;
  await parts.protection.begin(protectedPlaces(shift, snapshot, (row) => rows.includes(row)));
  const journalFrom = journalEnd(paths.journal);
  const flights = isWaiting
    ? await claimRows(parts, shift, task, snapshot, rows)
    : await claimBatch(parts, shift, task, snapshot, rows, size);
  const items: (OpenItem & { prompt: string; role: 'dev' | 'qa' })[] = [];
  for (const { claim, metadata } of flights) {
    const token = newToken();
    const role = isWaiting ? ('qa' as const) : ('dev' as const);
    const lastFailure = parts.history.of(task.name, claim.id)?.failure;
    const item = { id: claim.id, index: claim.row, metadata };
    const order = makeOrder(shift, task, { role, item, token, lastFailure });
    const open = { id: claim.id, index: claim.row, key: order.key };
    const prompt = isWaiting
      ? await writeQaPrompt(hand, paths, task, { ...open, metadata }, token)
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
    ...(journalFrom === undefined ? {} : { journalFrom }),
    text: task.text,
    tools: task.settings.tools,
    items: items.map(({ prompt: _, role: __, ...item }) => item),
  });
  const told = items.map(({ index, role, prompt }) => ({ index, role, prompt, ...laterPrompt(paths, index, role) }));
  const { qaRetries } = task.settings;
  const notes =
    qaRetries > 0 ? [`qa-retries: ${qaRetries} counts as 0 in batches by hand: what a qa fails is failed`] : [];
  const opened = { left: true, task: task.name, size, recovered: stale, items: told };
  if (options.json) io.print(JSON.stringify({ ...opened, ...(notes.length > 0 ? { notes } : {}) }));
  else for (const line of [...openLines(shift.name, task.name, stale, told), ...notes]) io.print(line);
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
  const hear = (event: NightshiftEvent) => {
    said.push(event);
    warnOfEdit(io, event);
  };
  await using hand = await openByHand(paths, io, { batch, onEvent: hear });
  const { parts, shift } = hand;
  const task = requireTaskIn(shift, batch.task);
  const recorded = await recordedSince(paths, batch.task, batch.journalFrom);
  const snapshot = await parts.store.snapshot();
  const ends = batch.items.map((item) => ({ item, ...endOf(snapshot, batch, item, recorded) }));
  const open = ends.filter(({ end }) => end === 'open');
  const usage = options.usage === undefined ? undefined : readUsage(options.usage);
  if (open.length > 0 && !options.giveBack && !isStale(found, io.now())) throw stillOpen(paths, batch.task, open);
  if (usage) parts.emit({ type: 'usage:spent', role: 'manager', agent: 'by hand', task: task.name, usage });
  await parts.protection.end();
  await removeBatch(paths);
  await new InForceRecord(paths).remove();
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

/** What no engine can count: agents that are started elsewhere spend elsewhere. */
function readUsage(text: string): Usage {
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    told = undefined;
  }
  const usage = reportedUsage(told);
  if (usage && usage.unreadCosts === undefined) return usage;
  const hint = `write it like '{"cost_usd": 0.3, "input_tokens": 1200, "output_tokens": 80}'`;
  throw new NightshiftError('usage', `--usage ${JSON.stringify(text)} has no cost or tokens to count`, hint);
}

function warnOfEdit(io: Io, event: NightshiftEvent): void {
  if (event.type === 'edit:reverted') for (const line of plainLines(event)) io.warn(line);
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

async function recordedSince(
  { journal }: ShiftPaths,
  task: string,
  from: OpenBatch['journalFrom'],
): Promise<Set<string>> {
  const recorded = new Set<string>();
  for await (const event of readSince(journal, from, ['"item:recorded"'])) {
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
