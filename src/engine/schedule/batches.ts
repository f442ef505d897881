import { askedCriteria } from '../../core/model/order.ts';
import type { Task } from '../../core/model/shift.ts';
import type { RunContext } from '../context.ts';
import { foldLessons } from '../learning/fold.ts';
import { Pause } from '../pause.ts';
import { type BatchEnd, NOTHING, type RunEnd } from '../ports.ts';
import {
  type ClaimRequest,
  claimRows,
  type Dispatch,
  giveBack,
  type ItemEnd,
  openDispatch,
  type RunningItem,
  whyNotStart,
} from './dispatch.ts';
import { runDev, runQa } from './running-item.ts';
import { chooseTurn, settleTurn, type Turn } from './turn.ts';

/** Runs batches: starts one, waits for all its items, starts the next (rules M2, M3, P1-P8). */
export class Batches {
  readonly #context: RunContext;

  constructor(context: RunContext) {
    this.#context = context;
  }

  /** Runs one batch; returns how the run ended, if it did. */
  async turn(): Promise<RunEnd | undefined> {
    const context = this.#context;
    const { control, store } = context;
    if (control.drain.aborted) return context.interrupted();
    const lost = await context.reload();
    if (lost) return lost;
    if (control.drain.aborted) return context.interrupted();
    const { shift } = context;
    const snapshot = await store.snapshot();
    const turn = chooseTurn(context, snapshot);
    if (!turn) return context.finished(snapshot);
    context.dispatched++;
    const end = await runBatch(context, turn, { shift, task: turn.task, snapshot, rows: turn.rows });
    // A run that has to end or pause starts nothing new: recommendations wait (rule P8).
    if (!control.isHalted) await foldLessons(context, turn.task.name, context.dispatched);
    await settleTurn(context, turn, end, !control.interrupt.aborted && end !== NOTHING);
    return this.#waitOutTrouble(end);
  }

  /** Rule X5: growing pauses while there is no progress, up to `patience`. */
  async #waitOutTrouble(end: BatchEnd): Promise<RunEnd | undefined> {
    const { control, ports, patience } = this.#context;
    if (end.done + end.failed > 0) patience.progress();
    if (end.trouble === undefined || control.drain.aborted) return undefined;
    const next = this.#context.endure(end.trouble);
    if (typeof next === 'object') return next;
    const pause = new Pause(ports.clock, next, end.trouble.until);
    while (pause.left > 0 && !control.drain.aborted) {
      await this.#context.resumed();
      await pause.wait(control.drain);
    }
    return undefined;
  }
}

/**
 * Rule P6: all devs at once, wait for all, then qa for those that succeeded. Items that a qa sends back start another
 * round. Items at `qa` are judged and not done again (rule T5).
 */
async function runBatch(context: RunContext, turn: Turn, request: ClaimRequest): Promise<BatchEnd> {
  const items = await claimBatch(context, turn, request);
  if (items.length === 0 && !turn.isWaiting) return NOTHING;
  await using _protected = context.documents.protect();
  await using dispatch = openDispatch(context);
  if (!turn.isWaiting) return countRounds(await runRounds(dispatch, turn.task, items));
  const judged = await judgeAll(dispatch, turn.task, items, false);
  return countRounds([...judged, ...(await runRounds(dispatch, turn.task, itemsAt(judged, 'again')))]);
}

/** Claims the items durably before any agent starts (rule T2), and keeps the Steps that devs get (rule L4). */
export async function claimBatch(context: RunContext, turn: Turn, request: ClaimRequest): Promise<RunningItem[]> {
  const { task } = request;
  if (!turn.isWaiting) await context.documents.keepVersion(task.name, task.text);
  // Edits reverted while nothing ran were not made by this batch (rule D5).
  await context.store.changes();
  const items = await claimRows(context, request);
  const indices = items.map(({ claim }) => claim.row);
  if (!turn.isWaiting && indices.length > 0) {
    context.emit({ type: 'batch:claimed', task: task.name, indices, size: turn.size });
  }
  return items;
}

/** A round starts after the last qa of the previous one. */
async function runRounds(dispatch: Dispatch, task: Task, first: readonly RunningItem[]): Promise<ItemEnd[]> {
  const ends: ItemEnd[] = [];
  for (let items = first; items.length > 0; ) {
    const over = whyNotStart(dispatch);
    const devs = await settle(dispatch, items, (item) =>
      over === undefined ? runDev(dispatch, item) : giveBack(dispatch, item, over),
    );
    const judged = await judgeAll(dispatch, task, itemsAt(devs, 'qa'), true);
    ends.push(...devs, ...judged);
    items = itemsAt(judged, 'again');
  }
  return ends;
}

function itemsAt(ends: readonly ItemEnd[], at: 'qa' | 'again'): RunningItem[] {
  return ends.filter(({ end }) => end === at).map(({ item }) => item);
}

/**
 * One by one (rule P6), unless `qa: parallel` is set. If no agent judges, the passing checks are the verdict for all
 * at once.
 */
async function judgeAll(
  dispatch: Dispatch,
  task: Task,
  items: readonly RunningItem[],
  isFresh: boolean,
): Promise<ItemEnd[]> {
  const { control } = dispatch.context;
  const asksAgent = askedCriteria(task).length > 0;
  if (task.settings.qaParallel || (!asksAgent && isFresh)) {
    return settle(dispatch, items, (item) => runQa(dispatch, item, isFresh));
  }
  const ends: ItemEnd[] = [];
  for (const item of items) {
    const isOver = control.interrupt.aborted || (!isFresh && control.isHalted);
    if (isOver) ends.push(await giveBack(dispatch, item, 'stopped'));
    else ends.push(...(await settle(dispatch, [item], (each) => runQa(dispatch, each, isFresh))));
  }
  return ends;
}

/** Waits for all even if one throws, so that nothing runs unwatched. Then throws the first error. */
async function settle(
  { failure }: Dispatch,
  items: readonly RunningItem[],
  work: (item: RunningItem) => Promise<ItemEnd>,
): Promise<ItemEnd[]> {
  const ends = await Promise.all(
    items.map((item) =>
      work(item).catch((error: unknown) => {
        failure.abort(error);
        return undefined;
      }),
    ),
  );
  failure.signal.throwIfAborted();
  return ends.filter((end) => end !== undefined);
}

/** Only the final result of each item counts (rule P2); a lost context counts whenever it happened. */
function countRounds(all: readonly ItemEnd[]): BatchEnd {
  const ends = all.filter(({ end }) => end !== 'qa' && end !== 'again');
  const returned = ends.flatMap(({ end }) => (typeof end === 'object' ? [end] : []));
  const troubles = returned.flatMap((each) => each.trouble ?? []);
  // Trouble that needs a person comes before trouble that passes.
  const trouble = troubles.find(({ remedy }) => remedy !== undefined) ?? troubles[0];
  return {
    done: ends.filter(({ end }) => end === 'done').length,
    failed: ends.filter(({ end }) => end === 'failed').length,
    returned: returned.length,
    compacted: all.some(({ compacted }) => compacted),
    ...(trouble === undefined ? {} : { trouble }),
  };
}
