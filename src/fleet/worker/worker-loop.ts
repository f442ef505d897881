import type { JobWithMetadata } from 'pg-boss';
import { formatDuration } from '../../core/model/duration.ts';
import { count } from '../../core/text/count.ts';
import { affectedBy, delay, type RetryOptions, untilAnswered } from '../database.ts';
import { describeFailure, isQueueMissing } from '../failure.ts';
import { CHANNEL, type Refusal } from '../protocol.ts';
import { beatSeconds, shortestLease, updatePulse } from '../pulse.ts';
import { fittingQueues } from './fitting-queues.ts';
import { FreezeWatch } from './freeze-watch.ts';
import type { Offers } from './offers.ts';
import { openOrder } from './open-order.ts';
import { OrderLeases } from './order-leases.ts';
import { OrderRun } from './order-run.ts';
import { described, endOf, nameOf, nameTaken } from './order-text.ts';
import { PrintedProblems } from './printed-problems.ts';
import { isNameTaken, register, signOff } from './register.ts';
import { applyRunSignals } from './run-signals.ts';
import type { WorkerOptions } from './worker-options.ts';

/** Without a notice, a worker asks this often for orders. */
const POLL_MS = 1000;
/** A worker that can't reach the database for this long ends its agents: by then, others have their orders. */
const SILENCE_MS = 15 * 60_000;
/** How long a worker that is to end tries to give its orders back. */
const GIVING_BACK_MS = 10_000;

/** Takes orders and carries them out until it is drained or stopped. */
export class WorkerLoop {
  readonly #options: WorkerOptions;
  readonly #leases: OrderLeases;
  readonly #runs = new Set<Promise<void>>();
  readonly #ended = new AbortController();
  readonly #retry: RetryOptions;
  readonly #freezes = new FreezeWatch(() =>
    untilAnswered(() => this.#leases.keepLeases({ mayWait: true }), this.#retry).catch(() => {}),
  );
  readonly #drained = new AbortController();
  readonly #problems: PrintedProblems;
  #isDraining = false;
  #isStopped = false;
  #wake: () => void = () => {};
  #isBeatDue = true;
  #leaseSeconds = 90;
  #answeredAt = performance.now();
  #idleSince = performance.now();
  #isTroubled = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#leases = new OrderLeases(options.database);
    this.#problems = new PrintedProblems(options);
    this.#retry = { signal: this.#ended.signal, onFailure: (reason) => this.#tellTrouble(reason) };
  }

  get running(): number {
    return this.#leases.size;
  }

  /** Since when it has nothing to do, in milliseconds; 0: it is busy. */
  get idleMs(): number {
    return this.#leases.size > 0 ? 0 : performance.now() - this.#idleSince;
  }

  /** Of all shifts, and of the orders that it has. */
  get #shortestLease(): number {
    return Math.min(this.#leaseSeconds, this.#leases.shortestLease);
  }

  /** Resolves at once, or after a suspension once it is known which of its orders others have. */
  confirmed(): Promise<void> {
    return this.#freezes.confirmed();
  }

  /** Takes nothing new. */
  drain(): void {
    this.#isDraining = true;
    this.#drained.abort();
    // The coordinator must know at once that these slots are gone.
    this.#hurry(true);
  }

  /** Ends all agents: their orders are given back. */
  stop(): void {
    this.drain();
    this.#isStopped = true;
    for (const order of this.#leases.all) order.end();
    // Without a database, nothing can be given back: the leases end by themselves.
    setTimeout(() => this.#ended.abort(), GIVING_BACK_MS).unref();
  }

  /** Resolves when it is drained and has reported everything. Throws if it can't join. */
  async run(): Promise<void> {
    const { database, name, slots } = this.#options;
    if (!(await this.#join())) return;
    this.#options.tell(`worker ${name} is ready: ${count(slots, 'slot')}, ${this.#options.offers.list.join(' ')}`);
    const beating = this.#beatLoop();
    // After giving up, wait only for `#runs`: `delay` returns at once then, so this loop would spin.
    while (!this.#ended.signal.aborted && (!this.#isDraining || this.#leases.size > 0)) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      if (this.#canTake) await this.#attempt(() => this.#take());
      await Promise.race([woken, delay(POLL_MS, this.#ended.signal)]);
    }
    await Promise.all(this.#runs);
    this.#freezes[Symbol.dispose]();
    this.#ended.abort();
    await beating;
    await signOff(database, this.#options.id);
    this.#options.tell(`worker ${name} has stopped`);
  }

  /** Waits for a database that can't be reached. False: it was told to end before. */
  async #join(): Promise<boolean> {
    const { database, name, tell } = this.#options;
    const retry = { ...this.#retry, signal: this.#drained.signal };
    const first = { ...retry, onFailure: (why: string) => this.#tellTrouble(`${why} (check --url if this lasts)`) };
    try {
      await untilAnswered(() => database.join(), first);
      await untilAnswered(() => this.#beat(), retry);
      if (await untilAnswered(() => isNameTaken(database, this.#options), retry)) tell(nameTaken(name));
      await untilAnswered(
        () =>
          database.listen([CHANNEL], (kind, subject) => {
            // Without an answer, the next heartbeat finds out.
            if (kind === 'cancel') void this.#leases.look(subject).catch(() => {});
            else this.#hurry(kind === 'changed');
          }),
        retry,
      );
      return true;
    } catch (error) {
      if (this.#isDraining) return false;
      throw error;
    }
  }

  #hurry(isBeatDue = false): void {
    this.#isBeatDue ||= isBeatDue;
    this.#wake();
  }

  /** A database that can't be reached stops nothing. */
  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.#answeredAt = performance.now();
      if (this.#isTroubled) this.#options.tell('the database is back');
      this.#isTroubled = false;
    } catch (error) {
      this.#tellTrouble(describeFailure(error));
      this.#endIfSilent();
    }
  }

  #tellTrouble(reason: string): void {
    if (this.#isTroubled) return;
    this.#isTroubled = true;
    const rest = this.#leases.size === 0 ? '' : ', and running agents continue';
    this.#options.tell(`can't use the database: ${reason}; retrying${rest}`);
  }

  #endIfSilent(): void {
    const { silenceMs = SILENCE_MS } = this.#options;
    const orders = this.#leases.all.filter(({ isEnding }) => !isEnding);
    if (performance.now() - this.#answeredAt < silenceMs || orders.length === 0) return;
    this.#options.tell(`no answer from the database for ${formatDuration(silenceMs)}: stopping all agents`);
    for (const order of orders) order.end();
  }

  async #beatLoop(): Promise<void> {
    let lastBeat = performance.now();
    while (!this.#ended.signal.aborted) {
      await delay(250, this.#ended.signal);
      const isDue = this.#isBeatDue || performance.now() - lastBeat >= beatSeconds(this.#shortestLease) * 1000;
      if (!isDue || this.#ended.signal.aborted) continue;
      this.#isBeatDue = false;
      lastBeat = performance.now();
      await this.#attempt(() => this.#beat());
    }
  }

  /** A heartbeat: for the fleet, for this worker, and for each of its orders. */
  async #beat(): Promise<void> {
    const { database, offers } = this.#options;
    await updatePulse(database);
    await this.#leases.keepLeases();
    this.#leaseSeconds = await shortestLease(database);
    // Agents' programs may take long to answer, and a heartbeat must not wait for them.
    const refreshing = offers.refresh();
    if (offers.isAsked) void refreshing.catch(() => {});
    else await refreshing;
    const mode = await this.#register();
    if (mode !== 'run' && !this.#isDraining) {
      this.#options.tell(
        mode === 'stop' ? 'stopped by `nightshift fleet stop`' : 'drained by `nightshift fleet drain`',
      );
      this.drain();
    }
    await applyRunSignals(database, this.#leases.all);
    await this.#problems.look();
  }

  async #register(): Promise<string> {
    const { database, id, name, slots, version, offers } = this.#options;
    return register(database, {
      ...{ id, name, slots, version, offers: offers.list, problems: offers.problems },
      orders: this.#leases.all.map((order) => described(order.sent)),
      mode: this.#isDraining ? 'drain' : 'run',
      leaseSeconds: this.#shortestLease,
    });
  }

  get #canTake(): boolean {
    const { slots, offers } = this.#options;
    return !this.#isDraining && this.#leases.size < slots && !offers.isResting;
  }

  async #take(): Promise<void> {
    const { database, slots, offers } = this.#options;
    this.#leases.forgetCancellations();
    const queues = await fittingQueues(database, offers.list);
    const before = this.#leases.size;
    for (const queue of queues) {
      const free = slots - this.#leases.size;
      if (free <= 0 || this.#isDraining) break;
      const askedAt = Date.now();
      for (const job of await this.#fetch(queue, free)) this.#begin(queue, job);
      this.#freezes.doubtSince(askedAt);
    }
    // At once, not with the next heartbeat: a cancellation looks here to see whether a worker still has the order.
    if (this.#leases.size > before) await this.#register();
  }

  async #fetch(queue: string, batchSize: number): Promise<JobWithMetadata<unknown>[]> {
    try {
      return await this.#options.database.boss.fetch(queue, { batchSize, includeMetadata: true });
    } catch (error) {
      // It was just removed, and others may have orders.
      if (isQueueMissing(error)) return [];
      throw error;
    }
  }

  #begin(queue: string, { id, data, heartbeatSeconds, startedOn }: JobWithMetadata<unknown>): void {
    if (this.#leases.continues(id, startedOn)) return;
    const { database, name, perform, verify, offers, tell } = this.#options;
    const sent = openOrder(data, { id, verify, offers: offers.list });
    if ('refused' in sent) {
      this.#refuse(queue, id, sent.refused);
      return;
    }
    const order = new OrderRun(sent, {
      ...{ database, queue, worker: name, retry: this.#retry, perform, tell },
      leaseSeconds: heartbeatSeconds ?? this.#leaseSeconds,
      takenOn: startedOn,
      noteOutcome: (outcome) => this.#noteOutcome(sent.work, outcome),
    });
    // It was being fetched when the worker was stopped.
    if (this.#isStopped) order.end();
    const run = this.#leases
      .start(order, () => this.#carryOut(order))
      .finally(() => {
        this.#runs.delete(run);
        this.#idleSince = performance.now();
        this.#hurry(true);
      });
    this.#runs.add(run);
  }

  /** Reported at once: its item must not wait until a lease has expired. */
  #refuse(queue: string, id: string, why: string): void {
    const { database, name, tell } = this.#options;
    tell(`order ${id} was refused: ${why}`);
    const refusal: Refusal = { worker: name, refused: why };
    const run: Promise<void> = untilAnswered(() => affectedBy(database.boss.complete(queue, id, refusal)), this.#retry)
      .catch((error: unknown) => tell(`order ${id}: the refusal could not be reported: ${describeFailure(error)}`))
      .then(() => void this.#runs.delete(run));
    this.#runs.add(run);
  }

  async #noteOutcome(...end: Parameters<Offers['noteOutcome']>): Promise<void> {
    const { offers } = this.#options;
    const before = offers.list.join();
    offers.noteOutcome(...end);
    if (offers.list.join() !== before) await this.#register().catch(() => {});
  }

  async #carryOut(order: OrderRun): Promise<void> {
    const { tell } = this.#options;
    const what = nameOf(order.sent);
    tell(`${what}: started`);
    try {
      const ended = await order.run();
      tell(`${what}: ${'refused' in ended ? `refused: ${ended.refused}` : endOf(ended)}`);
    } catch (error) {
      tell(`${what}: could not be reported: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
