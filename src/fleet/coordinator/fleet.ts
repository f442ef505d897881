import type { LessonOrder, LessonOutcome } from '../../core/model/lesson-order.ts';
import { masked } from '../../core/model/masked.ts';
import type { Order, Outcome } from '../../core/model/model.ts';
import { OrderLeft } from '../../core/model/order-left.ts';
import type { Task } from '../../core/model/shift.ts';
import { createMask } from '../../core/text/mask.ts';
import type { Fleet as EngineFleet, OpenWork } from '../../engine/ports.ts';
import type { Call, Worker } from '../../engine/worker/worker-ports.ts';
import { delay } from '../database.ts';
import { describeFailure } from '../failure.ts';
import { needsOf } from '../needs.ts';
import { channelsOf, LARGEST_MESSAGE, type Refusal, readRefusal, readReport, type Work } from '../protocol.ts';
import { startPulse, updatePulse } from '../pulse.ts';
import { Admission, lackOf } from './admission.ts';
import { DatabaseLink } from './database-link.ts';
import { Epoch } from './epoch.ts';
import type { FleetOptions, Secrets } from './fleet-options.ts';
import { NextChange } from './next-change.ts';
import type { OrderEnd } from './order-end.ts';
import { OrderFiles } from './order-files.ts';
import { OrderQueue } from './order-queue.ts';
import { adopted, isVerdictKnown, withoutPlace } from './order-variants.ts';
import { failedByLosses, givenBack, Losses, outcomeOf, tooLarge } from './outcomes.ts';
import { Roster } from './roster.ts';
import { type Pending, SentOrders } from './sent-orders.ts';
import { ShiftSignals } from './shift-signals.ts';

const TICK_MS = 1000;

/** Sends the orders of a run to workers on other machines, and follows them to their ends. */
export class Fleet implements EngineFleet, AsyncDisposable {
  readonly #options: FleetOptions;
  readonly #link: DatabaseLink;
  readonly #epoch: Epoch;
  readonly #queue: OrderQueue;
  readonly #orders: SentOrders;
  readonly #files: OrderFiles;
  readonly #roster: Roster;
  readonly #admission: Admission;
  readonly #losses = new Losses();
  readonly #signals: ShiftSignals;
  readonly #loops: Promise<void>[] = [];
  readonly #nextChange = new NextChange();
  /** Ends the wait for the next tick. */
  #hurry: () => void = () => {};

  constructor(options: FleetOptions) {
    const { database, shift, leaseSeconds, emit, onFailure } = options;
    const stopped = AbortSignal.any([options.stopped, options.left]);
    this.#options = options;
    this.#epoch = new Epoch(shift, leaseSeconds);
    this.#link = new DatabaseLink({ emit, stopped, onFailure, repair: () => this.#repair() });
    const { retry } = this.#link;
    this.#queue = new OrderQueue(database, this.#epoch, { shift: shift.key, leaseSeconds, ...retry });
    this.#orders = new SentOrders(options, { queue: this.#queue, link: this.#link, epoch: this.#epoch });
    this.#files = new OrderFiles(options, this.#epoch, this.#link);
    const isOwn = (order: string) => this.#orders.follows(order);
    this.#roster = new Roster({ emit, leaseSeconds, key: options.signer.publicKey, isOwn });
    this.#admission = new Admission(options, this.#roster);
    this.#signals = new ShiftSignals(options, this.#epoch, this.#link);
  }

  /** Takes over the shift in the database, and finds what an earlier run has sent. */
  async open(): Promise<this> {
    const { database, failpoint, shift } = this.#options;
    await this.#install();
    await this.#epoch.begin(database);
    failpoint('fleet:begun');
    await this.#orders.find();
    await this.#files.find();
    failpoint('orders:found');
    await this.#link.untilAnswered(() => updatePulse(database));
    await this.#link.untilAnswered(() => this.#roster.read(database, false));
    await database.listen(channelsOf(shift.key), (kind) => {
      if (kind === 'changed') this.#hurry();
      if (kind === 'changed' || kind === 'ended') this.#orders.wake();
    });
    this.#loops.push(this.#tickLoop(), this.#lookLoop());
    await this.#orders.endAbandoned();
    return this;
  }

  async #install(): Promise<void> {
    const { database, leaseSeconds } = this.#options;
    await database.install();
    await startPulse(database, leaseSeconds);
  }

  /** Orders of this run that the database still has are kept. */
  async #repair(): Promise<void> {
    await this.#install();
    await this.#epoch.beginAgain(this.#options.database);
    await this.#queue.routes.read();
    this.#signals.tellAgain();
  }

  slots(tasks: readonly Task[], role: OpenWork['role']): number {
    return this.#admission.slots(tasks, role);
  }

  fits(task: Task, role: OpenWork['role']): boolean {
    return this.#admission.fits({ task, role });
  }

  setDemand(items: number): void {
    this.#admission.setDemand(items);
  }

  reportOpenWork(work: readonly OpenWork[], isWaiting: boolean): void {
    this.#admission.reportOpenWork(work, isWaiting);
  }

  changed(signal: AbortSignal): Promise<void> {
    return this.#nextChange.until(signal, this.#link.closing);
  }

  surviving(): Order[] {
    return this.#orders.survivors;
  }

  dismiss(order: Order): Promise<void> {
    return this.#orders.dismiss(order);
  }

  worker(secrets: Secrets): Worker {
    const local = this.#options.local(secrets);
    return {
      run: async (order, call) => {
        const outcome = await this.#run(order, call, local);
        // The worker may have withdrawn an offer. Read that before the item is sent again.
        if (outcome.trouble?.isWorker) await this.#roster.read(this.#options.database).catch(() => {});
        return outcome;
      },
      learn: (order, call) => this.#learn(order, secrets, call),
      deliver: (row, call) => local.deliver(row, call),
      drop: async (token) => {
        for (const { sent } of this.#orders.kept(token)) {
          if (sent.work.kind === 'item') this.#options.rows?.removeRefs(sent.work.order);
        }
        await this.#orders.forgetClaim(token);
        await local.drop(token);
      },
    };
  }

  async #run(order: Order, call: Call, local: Worker): Promise<Outcome> {
    const { left } = this.#options;
    const signal = AbortSignal.any([call.signal, left]);
    if (isVerdictKnown(order)) return local.run(withoutPlace(order), call);
    // Earlier orders of this claim can be removed: when a qa begins, the end of its dev is in the table.
    await this.#orders.forgetClaim(order.token);
    const survivor = this.#orders.takeSurvivor(order);
    const rows = order.workspace && this.#options.rows;
    const carried = survivor ? adopted(order, survivor) : ((await rows?.carry(order, signal)) ?? { order });
    if (!('order' in carried)) return carried.outcome;
    if (carried.order.carried?.isJudged) return local.run(carried.order, call);
    const work: Work = { kind: 'item', order: carried.order };
    // The row of a survivor may be at another place in the table now.
    const pending = survivor
      ? { ...survivor, sent: { ...survivor.sent, work } }
      : this.#orders.make(work, this.#needsOf(order), await this.#files.of(order));
    const isTooLarge = !survivor && Buffer.byteLength(JSON.stringify(pending.sent)) > LARGEST_MESSAGE;
    if (isTooLarge) return tooLarge(order);
    this.#orders.keep(order.token, pending);
    this.#signals.follow(call);
    await this.#options.hold(order);
    const end = await this.#orders.follow(pending, { kind: 'item', order }, call, survivor !== undefined);
    if (end.kind === 'left') throw new OrderLeft();
    const outcome = await this.#outcomeOf(end, { order: carried.order, pending, signal });
    // Its report stays in the database: for the next run, or the one that has replaced this one.
    if ((left.aborted || this.#link.closing.aborted) && end.kind === 'reported') throw new OrderLeft();
    return outcome;
  }

  async #outcomeOf(
    end: OrderEnd,
    { order, pending, signal }: { order: Order; pending: Pending; signal: AbortSignal },
  ): Promise<Outcome> {
    const { failpoint, rows, secrets } = this.#options;
    const back = (reason: string) => givenBack(order, { reason, isWorker: true });
    if (end.kind === 'gone') return back('the database no longer has its order');
    if (end.kind === 'withdrawn') return back(end.reason);
    if (end.kind === 'lost') return this.#lossOf(order, 'its worker was lost', end.together);
    if (end.kind !== 'reported') return givenBack(order, { reason: 'stopped' });
    const refusal = readRefusal(end.report);
    if (refusal) return this.#refused(order, refusal, pending);
    const report = readReport(end.report, { kind: 'item', order });
    if (!report) return this.#lossOf(order, 'a worker sent an invalid report', 1);
    await this.#orders.untilEmitted(pending.sent.id, report, signal);
    failpoint('report:accepted');
    const outcome = masked(createMask(secrets()), outcomeOf(order, report, this.#roster.size));
    const instead = await rows?.accept(order, outcome, signal);
    if (order.carried) failpoint('row:arrived');
    return instead ?? outcome;
  }

  #needsOf(order: Order): string[] {
    const { place, signer } = this.#options;
    const hasWorkspace = order.workspace !== undefined;
    return needsOf({ ...order, place: place({ ...order, hasWorkspace }), key: signer.publicKey });
  }

  /** `together`: how many orders were lost with its worker. */
  #lossOf(order: Order, reason: string, together: number): Outcome {
    const times = this.#losses.add(order, together);
    return times === undefined ? givenBack(order, { reason, isWorker: true }) : failedByLosses(order, reason, times);
  }

  async #refused(order: Order, { worker, refused }: Refusal, { bundle }: Pending): Promise<Outcome> {
    if (bundle) await this.#files.restore(bundle);
    const message = `worker ${worker} refused the order of row ${order.item.index + 1}: ${refused}`;
    this.#options.emit({ type: 'run:warning', message });
    return this.#lossOf(order, `worker ${worker} refused its order: ${refused}`, 1);
  }

  async #learn(order: LessonOrder, secrets: Secrets, call: Call): Promise<LessonOutcome> {
    const work: Work = { kind: 'lesson', order };
    const key = this.#options.signer.publicKey;
    const needs = needsOf({ ...order, secretNames: Object.keys(secrets), place: undefined, key });
    const missing = this.#roster.missing(needs);
    if (missing) return { role: 'manager', reason: lackOf(missing) };
    const pending = this.#orders.make(work, needs);
    this.#signals.follow(call);
    const signal = AbortSignal.any([call.signal, this.#options.left]);
    const end = await this.#orders.follow(pending, work, { ...call, signal }, false);
    const report = end.kind === 'reported' ? readReport(end.report, work) : undefined;
    if (report) await this.#orders.untilEmitted(pending.sent.id, report, call.signal);
    await this.#orders.forget([pending]);
    if (report?.outcome.role === 'manager') return report.outcome;
    return { role: 'manager', reason: 'the worker did not answer' };
  }

  async #tickLoop(): Promise<void> {
    while (!this.#link.closing.aborted) {
      const hurried = new Promise<void>((resolve) => {
        this.#hurry = resolve;
      });
      await this.#link.attempt(() => this.#tick());
      await Promise.race([hurried, delay(TICK_MS, this.#link.closing)]);
    }
  }

  async #tick(): Promise<void> {
    const { database, leaseSeconds, isPaused, onStop } = this.#options;
    const calmLeases = await updatePulse(database);
    const { wanted, needs } = this.#admission.demand;
    // During a pause, waiting orders are withdrawn. Only running orders need machines.
    const demand = isPaused() ? this.#orders.running : wanted;
    const isStopped = (await this.#epoch.tick(database, { wanted: demand, needs, isPaused: isPaused() })) === 'stop';
    if (isStopped) onStop();
    await this.#roster.read(database, calmLeases.has(leaseSeconds));
    await this.#queue.endLeases();
    const { isDraining } = this.#signals;
    if (isDraining) await this.#orders.withdrawUntaken('the run is ending', isStopped);
    else if (isPaused()) await this.#orders.withdrawUntaken('the run is paused', false);
    const orders = await this.#queue.all();
    this.#admission.noteUnfit(await this.#orders.withdrawUnfit(orders, { roster: this.#roster, isDraining }));
    await this.#orders.removeUnknown(orders);
    await this.#queue.routes.closeUnused(orders);
    await this.#files.tidy(this.#orders.files);
    this.#link.endTrouble();
    this.#nextChange.tell();
    this.#orders.wake();
  }

  async #lookLoop(): Promise<void> {
    while (!this.#link.closing.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#orders.wake = resolve;
      });
      await this.#link.attempt(() => this.#orders.look());
      await Promise.race([woken, delay(TICK_MS, this.#link.closing)]);
    }
  }

  /** The run has ended. `isFinished`: by itself, so nothing of it stays in the database. */
  async end(isFinished: boolean): Promise<void> {
    const { database, rows, emit, left } = this.#options;
    if (!left.aborted) this.#admission.setDemand(0);
    await rows?.end(isFinished);
    // Without a database, or after a takeover, the next start cleans up.
    if (this.#link.isLost) return;
    try {
      await this.#orders.look();
      if (isFinished) await this.#queue.routes.close();
      await this.#files.tidy(isFinished ? new Set() : this.#orders.files, true);
      await this.#epoch.end(database, left.aborted);
    } catch (error) {
      emit({ type: 'run:warning', message: `can't clean up the fleet's database: ${describeFailure(error)}` });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#link.close();
    this.#orders.wake();
    await this.#link.unlessGivenUp(Promise.all(this.#loops).then(() => {}));
  }
}
