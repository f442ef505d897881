import type { Task } from '../../core/model/shift.ts';
import {
  adaptConcurrency,
  type Concurrency,
  noteRunning,
  openSlots,
  type SizeSettings,
  startConcurrency,
} from '../../core/schedule/concurrency.ts';
import { chooseNext } from '../../core/schedule/next.ts';
import type { RunContext } from '../context.ts';
import { claimRows, type Dispatch, type ItemEnd, openDispatch, type RunningItem } from './dispatch.ts';
import { runItem } from './running-item.ts';
import { affordableRows, rowsOf } from './turn.ts';

interface Slot {
  /** The epoch of the concurrency when the item started. */
  readonly epoch: number;
  /** Resolves when the item has ended in any way. */
  readonly ending: Promise<void>;
}

/**
 * Rule X7: a free slot is refilled at once, and the number of slots adapts. An item keeps its slot from dev to qa, so
 * qa runs beside other devs and the concurrency covers both.
 */
export class Slots implements AsyncDisposable {
  readonly #context: RunContext;
  readonly #dispatch: Dispatch;
  /** The slots in use, by token. */
  readonly #used = new Map<string, Slot>();
  readonly #ended: ItemEnd[] = [];
  /** Wakes who waits for an item to end. */
  #onEnd: () => void = () => {};
  readonly #versions = new Set<string>();
  #concurrency: Concurrency;
  #maxSize: number | undefined;

  constructor(context: RunContext) {
    const { settings } = context.shift;
    this.#context = context;
    this.#concurrency = startConcurrency(settings);
    this.#maxSize = settings.maxBatchSize;
    this.#dispatch = openDispatch(context);
  }

  /** How many slots are in use. */
  get used(): number {
    return this.#used.size;
  }

  /** How many slots there are, also those that stay empty after failures. */
  get concurrency(): number {
    return this.#concurrency.size;
  }

  get hasRoom(): boolean {
    return this.#room > 0;
  }

  get #room(): number {
    return openSlots(this.#concurrency) - this.#used.size;
  }

  /** You set another one in the manifest: it is used as it is (rule P4). */
  setConcurrency(settings: SizeSettings): void {
    this.#maxSize = settings.maxBatchSize;
    const next = startConcurrency(settings, this.#concurrency.epoch);
    if (next.size === this.#concurrency.size) return;
    this.#context.emit({
      type: 'concurrency:changed',
      from: this.#concurrency.size,
      to: next.size,
      reason: 'set by a person',
    });
    this.#concurrency = next;
  }

  /** Handles outside edits of the files before anything new is claimed. */
  async look(): Promise<void> {
    await this.#context.ports.shiftFiles.look();
    this.#dispatch.failure.signal.throwIfAborted();
  }

  /** Claims item-tasks for all free slots. */
  async fill(): Promise<void> {
    const { shift, store, returns, control, ports } = this.#context;
    while (this.hasRoom) {
      const snapshot = await store.snapshot();
      const next = chooseNext({
        board: snapshot,
        scope: this.#context.select(snapshot),
        mode: 'stream',
        sequence: shift.settings.sequence,
        room: this.#room,
        deferred: rowsOf(snapshot, returns.deferred),
        running: rowsOf(snapshot, ports.running.items),
      });
      if (!next || control.isHalted) break;
      const rows = affordableRows(this.#context, next);
      if (rows.length === 0) break;
      const task = shift.tasks.find(({ name }) => name === next.task)!;
      await this.#keepVersion(task);
      const items = await claimRows(this.#context, { shift, task, snapshot, rows });
      if (items.length === 0) break;
      const indices = items.filter(({ claim }) => claim.status !== 'qa').map(({ claim }) => claim.row);
      if (indices.length > 0) {
        this.#context.emit({ type: 'batch:claimed', task: task.name, indices, size: this.#concurrency.size });
      }
      for (const item of items) this.#start(item);
    }
    this.#concurrency = noteRunning(this.#concurrency, this.#used.size);
  }

  /**
   * Waits for an item to end, up to this long. Returns all that have ended by then: their slots are refilled
   * together.
   */
  async next(milliseconds?: number): Promise<ItemEnd[]> {
    if (this.#ended.length === 0 && !this.#dispatch.failure.signal.aborted) {
      const anyEnded = new AbortController();
      const ending = new Promise<void>((resolve) => {
        this.#onEnd = resolve;
      });
      const over = milliseconds === undefined ? [] : [this.#context.ports.clock.sleep(milliseconds, anyEnded.signal)];
      await Promise.race([ending, ...over]);
      anyEnded.abort();
    }
    this.#dispatch.failure.signal.throwIfAborted();
    const ends = this.#ended.splice(0);
    for (const end of ends) this.#free(end);
    return ends;
  }

  #start(item: RunningItem): void {
    const ending = this.#run(item)
      .then(
        (end) => void this.#ended.push(end),
        (error: unknown) => this.#dispatch.failure.abort(error),
      )
      .finally(() => this.#onEnd());
    this.#used.set(item.claim.token, { epoch: this.#concurrency.epoch, ending });
  }

  async #run(item: RunningItem): Promise<ItemEnd> {
    await using _protected = this.#context.documents.protect();
    return await runItem(this.#dispatch, item);
  }

  #free({ item, end, isTimeout }: ItemEnd): void {
    const { token } = item.claim;
    const { epoch } = this.#used.get(token)!;
    this.#used.delete(token);
    if (end === 'qa' || end === 'again') return;
    const isReturned = typeof end === 'object';
    const overload = isReturned ? overloadIn(end) : isTimeout ? '1 timed out' : undefined;
    const streamEnd = { end: isReturned ? ('returned' as const) : end, overload, epoch };
    const { concurrency, change } = adaptConcurrency(this.#concurrency, streamEnd, this.#maxSize);
    this.#concurrency = concurrency;
    if (change) this.#context.emit({ type: 'concurrency:changed', task: item.task.name, ...change });
  }

  async #keepVersion(task: Task): Promise<void> {
    if (this.#versions.has(task.version)) return;
    await this.#context.documents.keepVersion(task.name, task.text);
    this.#versions.add(task.version);
  }

  /** Whatever happened, nothing keeps running. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#used.size > 0) this.#dispatch.failure.abort(new Error('the run ended'));
    await Promise.allSettled([...this.#used.values()].map(({ ending }) => ending));
    await this.#dispatch[Symbol.asyncDispose]();
  }
}

/** Rule X5: trouble that passes may mean that the concurrency is too high; trouble that needs a person does not. */
function overloadIn({ trouble }: Exclude<ItemEnd['end'], string>): string | undefined {
  return trouble === undefined || trouble.remedy !== undefined ? undefined : `1 given back: ${trouble.reason}`;
}
