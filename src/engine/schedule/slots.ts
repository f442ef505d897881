import { OrderLeft } from '../../core/model/order-left.ts';
import type { Task } from '../../core/model/shift.ts';
import {
  adaptConcurrency,
  type Concurrency,
  noteRunning,
  openSlots,
  type SizeSettings,
  startConcurrency,
} from '../../core/schedule/concurrency.ts';
import { chooseNext, type Limits, type Next, openWork } from '../../core/schedule/next.ts';
import type { Scope } from '../../core/schedule/plan.ts';
import type { Snapshot } from '../../store/store.ts';
import type { RunContext } from '../context.ts';
import { claimRows, type Dispatch, type ItemEnd, openDispatch, type RunningItem } from './dispatch.ts';
import { runItem } from './running-item.ts';
import { affordableRows, rowsOf } from './turn.ts';

const ROLES: readonly Next['role'][] = ['dev', 'qa'];

interface Slot {
  /** The version of the concurrency when the item started. */
  readonly version: number;
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
    return ROLES.some((role) => this.#roomFor(role) > 0);
  }

  /** In a fleet, the concurrency allows more than runs now. A worker with room for it may join at any time. */
  get isShortOfWorkers(): boolean {
    return this.#context.ports.fleet !== undefined && openSlots(this.#concurrency) > this.#used.size;
  }

  #roomFor(role: Next['role']): number {
    const { shift, ports } = this.#context;
    const most = ports.fleet?.slots(shift.tasks, role) ?? Number.POSITIVE_INFINITY;
    return Math.min(openSlots(this.#concurrency), most) - this.#used.size;
  }

  /** You set another one in the manifest: it is used as it is (rule P4). */
  setConcurrency(settings: SizeSettings): void {
    this.#maxSize = settings.maxBatchSize;
    const next = startConcurrency(settings, this.#concurrency.version);
    if (next.size === this.#concurrency.size) return;
    this.#context.emit({
      type: 'concurrency:changed',
      from: this.#concurrency.size,
      to: next.size,
      reason: 'set by a person',
    });
    this.#concurrency = next;
  }

  /** Items that were claimed before, and whose workers are at work. */
  resume(items: readonly RunningItem[]): void {
    for (const item of items) this.#start(item);
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
      const scope = this.#context.select(snapshot);
      const next = chooseNext({
        board: snapshot,
        ...this.#limitsFor('dev', scope),
        forQa: this.#limitsFor('qa', scope),
        mode: 'stream',
        sequence: shift.settings.sequence,
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
    if (this.#used.size > 0) await this.#tellFleet(false);
  }

  /** Nothing runs although something is left: in a fleet, no worker can take it now. */
  async waitForWorkers(signal: AbortSignal): Promise<void> {
    await this.#tellFleet(true);
    await this.#context.ports.fleet?.changed(signal);
  }

  /** What may start. In a fleet: without tasks that no worker can work on in this role. */
  #limitsFor(role: Next['role'], scope: Scope): Limits {
    const { shift, ports } = this.#context;
    const { fleet } = ports;
    const unfit = fleet ? shift.tasks.filter((task) => !fleet.fits(task, role)).map(({ name }) => name) : [];
    const paused = new Set([...(scope.paused ?? []), ...unfit]);
    return { scope: unfit.length === 0 ? scope : { ...scope, paused }, room: this.#roomFor(role) };
  }

  async #tellFleet(isWaiting: boolean): Promise<void> {
    const { shift, store, ports } = this.#context;
    if (!ports.fleet) return;
    const board = await store.snapshot();
    const scope = this.#context.select(board);
    ports.fleet.setDemand(this.#used.size + this.#startable(board, scope));
    const taskOf = (name: string) => shift.tasks.find((task) => task.name === name)!;
    const open = openWork(board, scope).map(({ task, role }) => ({ task: taskOf(task), role }));
    ports.fleet.reportOpenWork(open, isWaiting);
  }

  /** How many more items could run with enough workers. Counts real rows, so that no machine is started for nothing. */
  #startable(board: Snapshot, scope: Scope): number {
    const { shift, ports } = this.#context;
    const room = openSlots(this.#concurrency) - this.#used.size;
    if (room <= 0) return 0;
    const running = rowsOf(board, ports.running.items);
    const { sequence } = shift.settings;
    return chooseNext({ board, scope, mode: 'stream', sequence, room, running })?.rows.length ?? 0;
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
        (error: unknown) => {
          if (error instanceof OrderLeft) this.#ended.push({ item, end: 'left', compacted: false });
          else this.#dispatch.failure.abort(error);
        },
      )
      .finally(() => this.#onEnd());
    this.#used.set(item.claim.token, { version: this.#concurrency.version, ending });
  }

  async #run(item: RunningItem): Promise<ItemEnd> {
    await using _protected = this.#context.documents.protect();
    return await runItem(this.#dispatch, item);
  }

  #free({ item, end, isTimeout }: ItemEnd): void {
    const { token } = item.claim;
    const { version } = this.#used.get(token)!;
    this.#used.delete(token);
    if (end === 'qa' || end === 'again' || end === 'left') return;
    const isReturned = typeof end === 'object';
    const overload = isReturned ? overloadIn(end) : isTimeout ? '1 timed out' : undefined;
    const streamEnd = { end: isReturned ? ('returned' as const) : end, overload, version };
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
  if (trouble?.isWorker) return undefined;
  return trouble === undefined || trouble.remedy !== undefined ? undefined : `1 given back: ${trouble.reason}`;
}
