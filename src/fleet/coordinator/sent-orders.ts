import { randomUUID } from 'node:crypto';
import type { Order } from '../../core/model/model.ts';
import { count } from '../../core/text/count.ts';
import { createMask } from '../../core/text/mask.ts';
import type { Call } from '../../engine/worker/worker-ports.ts';
import type { Bundle } from '../bundle.ts';
import { delay } from '../database.ts';
import { PROTOCOL, type Report, type SentOrder, type Work } from '../protocol.ts';
import { verifierFrom } from '../signature.ts';
import { lackOf } from './admission.ts';
import type { DatabaseLink } from './database-link.ts';
import { EndingOrders } from './ending-orders.ts';
import type { Epoch } from './epoch.ts';
import type { FleetOptions } from './fleet-options.ts';
import { IncomingLines } from './incoming-lines.ts';
import type { OrderEnd } from './order-end.ts';
import type { OrderQueue } from './order-queue.ts';
import type { Roster } from './roster.ts';
import type { StoredOrder } from './stored-order.ts';

/** How long to wait for lines that a report announces; after a failover they may be gone. */
const LINES_MS = 10_000;

/** An order that is sent, or about to be. */
export interface Pending {
  readonly sent: SentOrder;
  readonly queue: string;
  /** The files that it names; absent in one of an earlier run. */
  readonly bundle?: Bundle | undefined;
}

interface SentOrdersParts {
  readonly queue: OrderQueue;
  readonly link: DatabaseLink;
  readonly epoch: Epoch;
}

/** The orders of a run in the database, from before they are sent until their ends are in the table. */
export class SentOrders {
  readonly #options: FleetOptions;
  readonly #queue: OrderQueue;
  readonly #link: DatabaseLink;
  readonly #lines: IncomingLines;
  /** Orders whose end this run waits for. */
  readonly #waiting = new Map<string, { readonly role: string; readonly end: (end: OrderEnd) => void }>();
  /** Orders that could not be found once. */
  readonly #missed = new Set<string>();
  readonly #ending: EndingOrders;
  /** Why orders are withdrawn. */
  readonly #withdrawn = new Map<string, string>();
  /** Orders in the database that this run did not know at the last look. */
  #unknown = new Set<string>();
  /** Of an earlier run, by item-task and role. */
  readonly #survivors = new Map<string, Pending>();
  /** Of managers of an earlier run, which no longer wait for them. */
  readonly #abandoned: Pending[] = [];
  /** Until their ends are in the table, by token. */
  readonly #unsettled = new Map<string, Pending[]>();
  /** Those that are not forgotten, with the hashes of their files. */
  readonly #live = new Map<string, string | undefined>();
  /** Resolves the wait for the next look. */
  wake: () => void = () => {};

  constructor(options: FleetOptions, { queue, link, epoch }: SentOrdersParts) {
    this.#options = options;
    this.#queue = queue;
    this.#link = link;
    this.#ending = new EndingOrders(queue, link.closing);
    this.#lines = new IncomingLines(options, options.shift.key, epoch);
    options.left.addEventListener('abort', () => this.#leave(), { once: true });
  }

  /** Finds what an earlier run has sent. */
  async find(): Promise<void> {
    for (const found of await this.#queue.surviving(verifierFrom(this.#options.signer.publicKey)!)) {
      const { work, id } = found.sent;
      if (work.kind === 'lesson') this.#abandoned.push(found);
      // What is left out is removed with the first tick: an older database may have two for an item.
      if (work.kind === 'lesson' || this.#survivors.has(cellOf(work.order))) continue;
      this.#survivors.set(cellOf(work.order), found);
      this.#live.set(id, found.sent.files);
      this.#lines.defer(id);
    }
  }

  /** Ends what managers of an earlier run have asked, and waits until the agents have ended: their spending counts. */
  async endAbandoned(): Promise<void> {
    const abandoned = this.#abandoned.splice(0);
    await Promise.all(abandoned.map(({ queue, sent }) => this.#cancel(queue, sent.id)));
    await this.forget(abandoned);
    if (abandoned.length > 0) await this.look();
  }

  /** How many orders are waited for. */
  get running(): number {
    return this.#waiting.size;
  }

  get survivors(): Order[] {
    return [...this.#survivors.values()].flatMap(({ sent }) => (sent.work.kind === 'item' ? [sent.work.order] : []));
  }

  /** From now on, it is no survivor. Undefined: there is none for this order. */
  takeSurvivor(order: Order): Pending | undefined {
    const found = this.#survivors.get(cellOf(order));
    this.#survivors.delete(cellOf(order));
    return found;
  }

  /** Ends a survivor, and waits until its worker has ended the agent. */
  async dismiss(order: Order): Promise<void> {
    const found = this.takeSurvivor(order);
    if (!found) return;
    await this.#cancel(found.queue, found.sent.id);
    await this.forget([found]);
    this.#options.failpoint('order:dismissed');
  }

  /** Whether an order is not forgotten yet. */
  follows(id: string): boolean {
    return this.#live.has(id);
  }

  /** A new order, which is not sent yet. */
  make(work: Work, needs: readonly string[], bundle?: Bundle): Pending {
    const { key, name } = this.#options.shift;
    const files = bundle && { files: bundle.hash };
    const sent = { protocol: PROTOCOL, id: randomUUID(), shift: { key, name }, needs, ...files, work };
    return { sent, queue: this.#queue.nameFor(needs), bundle };
  }

  /** The hashes of the files that orders name which are not forgotten. */
  get files(): Set<string> {
    return new Set([...this.#live.values()].filter((hash) => hash !== undefined));
  }

  /** Sends an order, unless it was, and waits for its end. `work`: as its row is now. */
  async follow({ sent, queue, bundle }: Pending, work: Work, call: Call, isSent: boolean): Promise<OrderEnd> {
    const { signer, failpoint, left } = this.#options;
    const { id } = sent;
    this.#live.set(id, sent.files);
    this.#lines.expect(id, work);
    if ((call.signal.aborted || left.aborted) && !isSent) return { kind: 'cancelled' };
    failpoint('order:claimed');
    try {
      const sending = isSent ? Promise.resolve() : this.#queue.send(sent, signer.seal(sent), bundle);
      // It may have been sent: only the answer is missing.
      if (!(await this.#link.unlessGivenUp(sending))) return { kind: 'left' };
    } catch (error) {
      if (left.aborted) return { kind: 'left' };
      throw error;
    }
    failpoint(isSent ? 'order:adopted' : 'order:sent');
    let onAbort = () => {};
    const end = new Promise<OrderEnd>((resolve, reject) => {
      this.#waiting.set(id, { role: work.order.role, end: resolve });
      onAbort = () => {
        // Stop watching the job: it ends in the database before its agent has ended.
        this.#waiting.delete(id);
        this.#cancel(queue, id).then(resolve, reject);
      };
      call.signal.addEventListener('abort', onAbort, { once: true });
    });
    if (call.signal.aborted) onAbort();
    if (left.aborted) this.#leave();
    this.wake();
    try {
      return await end;
    } finally {
      this.#waiting.delete(id);
      this.#withdrawn.delete(id);
      call.signal.removeEventListener('abort', onAbort);
      failpoint('order:ended');
    }
  }

  /** Resolves when the journal has all that the lines of an order told, as far as the database still has them. */
  async untilEmitted(id: string, report: Report, signal: AbortSignal): Promise<void> {
    for (let since = performance.now(); !this.#lines.hasEmitted(id, report); ) {
      if (signal.aborted || this.#link.closing.aborted) return;
      if (performance.now() - since > LINES_MS) {
        if (!(await this.#lines.areWaiting(this.#options.database, id).catch(() => true))) break;
        since = performance.now();
      }
      this.wake();
      await delay(20, this.#link.closing);
    }
    this.#lines.accept(id, report);
  }

  /** Until its end is in the table. */
  keep(token: string, pending: Pending): void {
    this.#unsettled.set(token, [...(this.#unsettled.get(token) ?? []), pending]);
  }

  kept(token: string): readonly Pending[] {
    return this.#unsettled.get(token) ?? [];
  }

  /** The ends of the orders of this claim are in the table. */
  async forgetClaim(token: string): Promise<void> {
    const pending = this.#unsettled.get(token);
    if (!pending) return;
    this.#unsettled.delete(token);
    await this.forget(pending);
    this.#options.failpoint('order:forgotten');
  }

  async forget(orders: readonly Pending[]): Promise<void> {
    const named = orders.map(({ sent, queue }) => ({ queue, id: sent.id }));
    await this.#link.unlessGivenUp(this.#queue.forget(named));
    for (const { id } of named) {
      this.#lines.close(id);
      this.#live.delete(id);
    }
  }

  /** Emits the lines that have arrived, and resolves the waits for orders that have ended. */
  async look(): Promise<void> {
    const { database, secrets } = this.#options;
    while (!this.#link.closing.aborted && (await this.#lines.take(database, createMask(secrets())))) {}
    if (this.#waiting.size === 0) return;
    const ends = await this.#queue.ended([...this.#waiting.keys()]);
    for (const id of this.#missed) if (!ends.has(id)) this.#missed.delete(id);
    for (const [id, end] of ends) {
      // A statement that began before the order was sent does not see it.
      if (end.kind === 'gone' && !this.#missed.has(id)) this.#missed.add(id);
      else {
        this.#missed.delete(id);
        const reason = end.kind === 'cancelled' ? this.#withdrawn.get(id) : undefined;
        this.#waiting.get(id)?.end(reason === undefined ? end : { kind: 'withdrawn', reason });
      }
    }
  }

  /**
   * The run is paused or to end, so nothing new begins: untaken orders of devs and managers are given back. What a dev
   * has finished may still be judged, unless `isAll`.
   */
  async withdrawUntaken(reason: string, isAll: boolean): Promise<void> {
    const orders = [...this.#waiting].filter(([, { role }]) => isAll || role !== 'qa');
    await this.#withdraw(new Map(orders.map(([id]) => [id, reason])));
  }

  /**
   * Orders that wait although no worker fits. What a dev has finished waits for a worker that judges it, unless the run is
   * to end: returns what such orders need. The others go back, so that other items can use their slots.
   */
  async withdrawUnfit(
    orders: readonly StoredOrder[],
    { roster, isDraining }: { readonly roster: Roster; readonly isDraining: boolean },
  ): Promise<(readonly string[])[]> {
    const unfit = orders.flatMap(({ id, queue, isWaiting }) => {
      const role = this.#waiting.get(id)?.role;
      const needs = this.#queue.routes.needsIn(queue);
      const missing = isWaiting && role !== undefined ? roster.missing(needs) : undefined;
      return missing ? [{ id, needs, missing, isKept: !isDraining && (role === 'qa' || roster.isEmpty) }] : [];
    });
    const back = unfit.filter(({ isKept }) => !isKept);
    await this.#withdraw(new Map(back.map(({ id, missing }) => [id, lackOf(missing)])));
    return unfit.filter(({ isKept }) => isKept).map(({ needs }) => needs);
  }

  async #withdraw(reasons: ReadonlyMap<string, string>): Promise<void> {
    for (const [id, reason] of reasons) this.#withdrawn.set(id, reason);
    if (reasons.size > 0) await this.#queue.withdrawUntaken([...reasons.keys()]);
  }

  /**
   * Removes orders that a restored older database brings back, or that someone else has written. An order that is
   * forgotten while the orders are read looks like one of them, but only once.
   */
  async removeUnknown(orders: readonly StoredOrder[]): Promise<void> {
    const unknown = orders.filter(({ id }) => !this.#live.has(id));
    const toRemove = unknown.filter(({ id }) => this.#unknown.has(id));
    this.#unknown = new Set(unknown.map(({ id }) => id));
    if (toRemove.length === 0) return;
    await this.#queue.cancel(toRemove);
    await this.#queue.forget(toRemove);
    const message = `ended ${count(toRemove.length, 'order')} in the database that did not belong to this run`;
    this.#options.emit({ type: 'run:warning', message });
  }

  /** Leaves orders with their workers, except those of a manager: no run would adopt them. */
  #leave(): void {
    for (const { role, end } of this.#waiting.values()) if (role !== 'manager') end({ kind: 'left' });
  }

  /** Ends an order, and waits until its worker has ended the agent. Without a database, it stays with its worker. */
  async #cancel(queue: string, id: string): Promise<OrderEnd> {
    if (!(await this.#link.unlessGivenUp(this.#queue.cancel([{ queue, id }])))) return { kind: 'left' };
    await this.#ending.released(id);
    return { kind: 'cancelled' };
  }
}

function cellOf({ task, item, role }: Order): string {
  return JSON.stringify([task, item.id, role]);
}
