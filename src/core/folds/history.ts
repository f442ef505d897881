import type { LessonState } from '../learning/lesson.ts';
import { EXIT } from '../model/errors.ts';
import { isReadable } from '../model/event-shape.ts';
import type { LessonVote, NightshiftEvent, Recommendation } from '../model/events.ts';
import type { Usage } from '../model/model.ts';
import { withdrawnTo } from '../model/older-events.ts';
import { addAmounts, rest, sum } from '../model/usage.ts';
import { Tally } from '../schedule/tally.ts';
import { noteReset, type UnfinishedRetry } from '../schedule/unfinished-retry.ts';
import { copyOf, copyOfValues } from '../text/short-copy.ts';
import { type CheckpointLine, isCheckpoint, type StepsChange } from './checkpoint.ts';
import { countReturn, type ItemReturns } from './item-returns.ts';
import { moveTo, type ToldBy, toldBy } from './item-worker.ts';
import { type LastRun, noteInRun, requestIn } from './last-run.ts';
import { LessonHistory } from './lesson-history.ts';
import { Positions } from './positions.ts';
import { RepeatedEvents } from './repeated-events.ts';

/**
 * What the journal says about an item-task. The table alone says what is done; this says how it got there. All items
 * of a shift are in memory at once, so it has a small, fixed size; `ItemDetails` has the rest.
 */
export interface ItemHistory extends ItemReturns {
  /** Finished attempts of its latest dev. */
  attempts: number;
  dev?: { status: string; attempts: number; ms: number; at: string } & ToldBy;
  qa?: { status: string; at: string } & ToldBy;
  /** The worker of a fleet where its session runs now. After a crash, that is only true if the item is not `todo`. */
  worker?: string;
  captured: Readonly<Record<string, string>>;
  usage: Usage;
  /** Why it failed, if it did. */
  failure?: string;
  /** Its dev worked without lessons (`holdout`). */
  isHeldOut?: true;
}

const LONGEST_VALUE = 10_000;
/** Sums of the same costs in another order differ by less. */
const LEAST_AMOUNT = 1e-9;
/** The durations of a run in two records may differ by this much. */
const LEAST_MS = 2000;
const NOTHING = Object.freeze({});

export class History {
  readonly #items = new Map<string, ItemHistory>();
  readonly #lessons = new LessonHistory();
  readonly #positions = new Positions();
  /** The run whose checkpoint is being read. */
  #restoring: string | undefined;
  readonly #repeated = new RepeatedEvents();
  readonly tally = new Tally();
  usage: Usage = {};
  lastRun: LastRun | undefined;
  retrying: UnfinishedRetry | undefined;
  firstAt: string | undefined;
  lastAt: string | undefined;

  of(task: string, item: string): ItemHistory | undefined {
    return this.#items.get(`${task} ${item}`);
  }

  /** What each item-task whose dev has finished has cost in all runs, and how long its last dev took. */
  *ended(): Generator<{ readonly task: string; readonly usage: Usage; readonly ms: number }> {
    for (const [name, { dev, usage }] of this.#items) if (dev) yield { task: splitName(name)[0], usage, ms: dev.ms };
  }

  /** Rule P8: recommendations survive an interruption. Only those of items that passed count (rule L1). */
  unsettled(task: string): ReadonlyMap<string, readonly Recommendation[]> {
    return this.#lessons.recommendations(task);
  }

  /** What devs and qas said about the lessons of a task since the last fold. */
  votes(task: string): readonly LessonVote[] {
    return this.#lessons.votes(task);
  }

  /** The state of a lesson that the journal told last. */
  lessonState(id: string): LessonState | undefined {
    return this.#lessons.stateOf(id);
  }

  /** The highest number of a line that this worker has sent about this order; 0 if none is known. */
  positionOf(order: string, worker: string): number {
    return this.#positions.of(order, worker);
  }

  /** The changes of a task's Steps, the latest last. */
  changesOf(task: string): readonly StepsChange[] {
    return this.#lessons.changesOf(task);
  }

  /**
   * A line of a journal file. A checkpoint counts only at the beginning of a file, because any program can append
   * one.
   */
  read(line: unknown, isFirst: boolean): void {
    if (isCheckpoint(line)) {
      if (isFirst && line.type === 'checkpoint:started') this.#restoring = line.run ?? '';
      if (this.#restoring !== undefined) this.#restore(line);
      return;
    }
    if (!isReadable(line)) return;
    // A line of another run: the checkpoint was cut short, and what follows counts normally.
    if (this.#restoring !== line.run) this.#restoring = undefined;
    if (this.#restoring === undefined && !this.#repeated.has(line)) this.add(line);
  }

  /** Neither a run nor a batch by hand is known. */
  get isEmpty(): boolean {
    return this.lastRun === undefined && this.#items.size === 0 && Object.keys(this.usage).length === 0;
  }

  add(event: NightshiftEvent): void {
    this.firstAt ??= event.at;
    this.lastAt = event.at;
    this.tally.add(event);
    this.#lessons.add(event);
    this.#positions.add(event);
    this.#followRun(event);
    switch (event.type) {
      case 'dev:started': {
        const item = this.#item(event);
        if (!item) return;
        // An item that a qa sent back continues its attempts.
        if ((event.attempt ?? 1) === 1) Object.assign(item, { attempts: 0, qaRetries: 0 });
        delete item.dev;
        delete item.qa;
        delete item.isHeldOut;
        if (event.isHeldOut) item.isHeldOut = true;
        moveTo(item, event);
        return;
      }
      case 'qa:started': {
        const item = event.worker === undefined ? undefined : this.#item(event);
        if (item) moveTo(item, event);
        return;
      }
      case 'attempt:finished': {
        const item = this.#item(event);
        if (item) item.attempts++;
        return;
      }
      case 'dev:finished':
        this.#devFinished(event);
        return;
      case 'qa:finished': {
        const item = this.#item(event);
        if (item) delete item.worker;
        if (!item || event.status === 'NONE') return;
        const { status, reason, at } = event;
        item.qa = { status, at, ...toldBy(event) };
        if (status === 'FAIL') item.failure = copyOf(reason ?? 'qa failed it');
        else delete item.failure;
        return;
      }
      case 'delivery:finished': {
        const item = this.#item(event);
        if (item && event.failurePoint !== undefined) item.failure = copyOf(event.reason ?? 'it was not delivered');
        return;
      }
      case 'item:recorded':
      case 'item:returned': {
        const item = this.#item(event);
        countReturn(item, event);
        if (event.type === 'item:returned') delete item?.worker;
        return;
      }
      case 'item:withdrawn':
        this.#withdrawn(event);
        return;
      case 'table:edited':
        this.#edited(event);
        return;
      case 'usage:spent': {
        const item = this.#item(event);
        if (item) item.usage = sum(item.usage, event.usage);
        this.usage = sum(this.usage, event.usage);
        return;
      }
    }
  }

  /** Everything, for the beginning of a journal file. */
  *checkpoint(stamp: { readonly at: string; readonly run: string; readonly shift: string }): Generator<CheckpointLine> {
    const { usage, lastRun, firstAt, lastAt } = this;
    const tally = this.tally.state();
    const known = Object.fromEntries(Object.entries({ lastRun, firstAt, lastAt }).filter(([, value]) => value));
    yield { type: 'checkpoint:started', ...stamp, usage, tally, ...known };
    yield* this.#lessons.checkpoint();
    yield* this.#positions.checkpoint();
    for (const [name, history] of this.#items) {
      const [task, item] = splitName(name);
      yield { type: 'checkpoint:item', task, item, history, ...this.#lessons.waitingOf(task, item) };
    }
    for (const [item, task] of this.retrying?.items ?? []) {
      yield { type: 'checkpoint:retry', task, item, flags: this.retrying!.flags };
    }
    yield { type: 'checkpoint:ended' };
  }

  /** Raises what was spent to another record's sum; returns whether that was higher. */
  atLeast(spent: { readonly usage: Usage; readonly ms: number }): boolean {
    const missing = Object.entries(rest(spent.usage, this.usage) ?? {}).filter(([, amount]) => amount > LEAST_AMOUNT);
    if (missing.length === 0 && spent.ms < this.tally.ms + LEAST_MS) return false;
    this.usage = addAmounts(this.usage, Object.fromEntries(missing));
    this.tally.atLeast(spent.ms);
    return true;
  }

  #restore(line: CheckpointLine): void {
    this.#lessons.restore(line);
    this.#positions.restore(line);
    switch (line.type) {
      case 'checkpoint:started':
        this.usage = line.usage;
        this.tally.restore(line.tally);
        this.lastRun = line.lastRun;
        this.firstAt = line.firstAt;
        this.lastAt = line.lastAt;
        return;
      case 'checkpoint:item':
        this.#items.set(`${line.task} ${line.item}`, line.history);
        return;
      case 'checkpoint:retry':
        this.retrying = noteReset(this.retrying, line.flags, [line]);
        return;
      case 'checkpoint:ended':
        this.#restoring = undefined;
    }
  }

  /** Commands beside a run don't belong to it. */
  #followRun(event: NightshiftEvent): void {
    const { type, run, at } = event;
    if (type === 'run:started') {
      const number = (this.lastRun?.number ?? 0) + 1;
      if (event.command !== 'retry') this.retrying = undefined;
      this.lastRun = { run, number, startedAt: at, ...requestIn(event), lastAt: at, usage: {} };
    }
    const last = this.lastRun;
    if (!last || last.run !== run) return;
    noteInRun(last, event);
    const hasFinished =
      type === 'run:finished' && [EXIT.done, EXIT.failedItems].some((code) => code === event.exitCode);
    if (hasFinished) this.retrying = undefined;
  }

  #devFinished(event: Extract<NightshiftEvent, { type: 'dev:finished' }>): void {
    const item = this.#item(event);
    if (!item) return;
    const { status, attempts, ms, reason, at } = event;
    item.dev = { status, attempts, ms, at, ...toldBy(event) };
    delete item.worker;
    item.captured = copyOfValues(event.captured, LONGEST_VALUE);
    if (status.startsWith('FAILED')) item.failure = copyOf(reason ?? status);
  }

  /** An interrupted retry continues with the same rows, except those edited since. */
  #edited({ changes, retry }: Extract<NightshiftEvent, { type: 'table:edited' }>): void {
    for (const { item, column } of changes) delete this.of(column, item)?.silent;
    if (!retry) {
      for (const { item } of changes) this.retrying?.items.delete(item);
      return;
    }
    const cells = changes.map(({ item, column }) => ({ item, task: column }));
    this.retrying = noteReset(this.retrying, retry, cells);
  }

  #withdrawn(event: Extract<NightshiftEvent, { type: 'item:withdrawn' }>): void {
    const item = this.#item(event);
    if (!item) return;
    // In a stream it may be judged at that moment: the verdict is dropped with the result (rule T4).
    delete item.qa;
    delete item.worker;
    if (withdrawnTo(event) === 'failed') item.failure = copyOf(event.reason);
  }

  #item(event: NightshiftEvent): ItemHistory | undefined {
    if (event.task === undefined || event.item === undefined) return undefined;
    const key = `${event.task} ${event.item}`;
    let item = this.#items.get(key);
    if (!item) {
      item = { attempts: 0, captured: NOTHING, usage: NOTHING };
      this.#items.set(key, item);
    }
    return item;
  }
}

/** Task names have no spaces. */
function splitName(name: string): [task: string, item: string] {
  const space = name.indexOf(' ');
  return [name.slice(0, space), name.slice(space + 1)];
}
