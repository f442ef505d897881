import type { Happening, TranscriptHappening } from '../../core/model/events.ts';
import type { Outcome } from '../../core/model/model.ts';
import type { Call } from '../../engine/worker/worker-ports.ts';
import { affectedBy, type FleetDatabase, type RetryOptions, untilAnswered } from '../database.ts';
import {
  LARGEST_MESSAGE,
  type Refusal,
  type Report,
  type SentOrder,
  type Work,
  type WorkOutcome,
} from '../protocol.ts';
import { SCHEMA } from '../schema.ts';
import { storable } from '../storable.ts';
import { LineSender } from './line-sender.ts';

/** Why an order is not carried out: what it names is not what the coordinator has signed. */
export type Refused = Pick<Refusal, 'refused'>;

/**
 * Carries out an order on this machine. Does not throw for anything that an agent or a check does. Secrets are masked in
 * the message of what it throws.
 */
export type Perform = (sent: SentOrder, call: Call) => Promise<WorkOutcome | Refused>;

export const WHY_REFUSED = 'the lease had expired, or the item was withdrawn';

export interface OrderRunOptions {
  readonly database: FleetDatabase;
  readonly queue: string;
  /** Of this order. */
  readonly leaseSeconds: number;
  /** When the database gave it to this worker, by the clock of the database. */
  readonly takenOn: Date;
  readonly worker: string;
  readonly retry: RetryOptions;
  readonly perform: Perform;
  /** Prints a line for the operator. */
  readonly tell: (message: string) => void;
  /** Updates the offers of this worker. Called before the report, or the next order could fail the same way. */
  noteOutcome(outcome: WorkOutcome): Promise<void>;
}

/**
 * What became of the report. `cancelled`: the run no longer wanted it. `refused`: the lease had expired. `unknown`: the
 * answer was lost and the order is gone, because its end was recorded or did not count.
 */
type Handover = 'accepted' | 'cancelled' | 'refused' | 'unknown';

export interface OrderResult {
  readonly handover: Handover;
  readonly outcome: WorkOutcome;
}

/** An order that this worker has taken, until its report is accepted or refused. */
export class OrderRun {
  readonly sent: SentOrder;
  readonly queue: string;
  readonly #options: OrderRunOptions;
  readonly #lines: LineSender;
  readonly #stop = new AbortController();
  readonly #drain = new AbortController();
  readonly #spent = new AbortController();
  #takenOn: Date;
  #isLost = false;
  #isCancelled = false;

  constructor(sent: SentOrder, options: OrderRunOptions) {
    const { database, worker, retry, queue } = options;
    this.sent = sent;
    this.queue = queue;
    this.#options = options;
    this.#takenOn = options.takenOn;
    this.#lines = new LineSender(database, { order: sent.id, shift: sent.shift.key, worker }, retry);
  }

  get id(): string {
    return this.sent.id;
  }

  /** The same for all orders whose processes look the same. */
  get session(): string {
    const { shift, work } = this.sent;
    const { role, task } = work.order;
    return JSON.stringify([shift.key, role, work.kind === 'item' ? work.order.key : task]);
  }

  get takenOn(): Date {
    return this.#takenOn;
  }

  /** The database has given it to this worker again. */
  retake(on: Date): void {
    this.#takenOn = on;
  }

  get leaseSeconds(): number {
    return this.#options.leaseSeconds;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** The order is not this worker's any more: its agent is ended, and its report would be refused. */
  lose(): void {
    this.#isLost = true;
    this.end();
  }

  /** The run no longer wants it: its item was withdrawn, or the run was stopped. */
  cancel(): void {
    this.#isCancelled = true;
    this.lose();
  }

  get isEnding(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Ends the agent; the order is given back. */
  end(): void {
    this.#stop.abort();
  }

  drain(): void {
    this.#drain.abort();
  }

  spend(limit: string): void {
    if (!this.#spent.signal.aborted) this.#spent.abort(limit);
  }

  /** Carries it out and reports it. */
  async run(): Promise<OrderResult | Refused> {
    const { perform, worker, tell } = this.#options;
    const call = {
      emit: (what: Happening | TranscriptHappening) => this.#lines.add(what),
      signal: this.#stop.signal,
      drain: this.#drain.signal,
      spent: this.#spent.signal,
    };
    const outcome = await perform(this.sent, call).catch((error: unknown) => {
      tell(`a bug in Nightshift: ${error instanceof Error ? error.stack : String(error)}`);
      return bugOutcome(this.sent.work, error);
    });
    if ('refused' in outcome) {
      if (!this.#isLost) await this.#complete({ worker, refused: outcome.refused });
      return outcome;
    }
    // An agent that was ended says nothing about it.
    if (!this.#stop.signal.aborted) await this.#options.noteOutcome(outcome);
    const given = this.#stop.signal.aborted ? givenBackByStop(outcome) : outcome;
    const handover = this.#isCancelled ? 'cancelled' : this.#isLost ? 'refused' : await this.#report(given);
    if (handover === 'refused')
      this.#lines.add({ type: 'result:refused', worker, ...this.#subject(), reason: WHY_REFUSED });
    await this.#lines.flush();
    return { handover, outcome: given };
  }

  /** All lines are there before the report is. */
  async #report(outcome: WorkOutcome): Promise<Handover> {
    const { worker } = this.#options;
    await this.#lines.flush();
    const report: Report = { worker, lines: this.#lines.count, outcome };
    const isTooLarge = Buffer.byteLength(JSON.stringify(report)) > LARGEST_MESSAGE;
    return this.#complete(isTooLarge ? { ...report, outcome: tooLarge(outcome) } : report);
  }

  async #complete(report: Report | Refusal): Promise<Handover> {
    const { database, retry } = this.#options;
    const sent = storable(report);
    let isAnswerLost = false;
    return untilAnswered(async () => {
      // Also one that no worker has: a failover may have made the database forget who took it.
      const done = database.boss.complete(this.queue, this.id, sent, { includeQueued: true });
      const completed = await affectedBy(done).catch((error: unknown) => {
        isAnswerLost = true;
        throw error;
      });
      const handover = completed > 0 ? 'accepted' : await this.#earlierHandover(isAnswerLost);
      if (handover === 'accepted') await database.notify('ended', this.sent.shift.key).catch(() => {});
      return handover;
    }, retry);
  }

  /** The order does not wait for a report. An earlier one may have arrived, and the coordinator may have removed it. */
  async #earlierHandover(isAnswerLost: boolean): Promise<Handover> {
    const { rows } = await this.#options.database.query<{ state: string; worker: string | null }>(
      `select state, case when state = 'completed' then output ->> 'worker' end as worker
       from ${SCHEMA}.job where name = $1 and id = $2`,
      [this.queue, this.id],
    );
    if (rows.length === 0 && isAnswerLost) return 'unknown';
    if (rows[0]?.state === 'cancelled') return 'cancelled';
    return rows[0]?.worker === this.#options.worker ? 'accepted' : 'refused';
  }

  #subject(): { task: string; index?: number; item?: string } {
    const { work } = this.sent;
    if (work.kind === 'lesson') return { task: work.order.task };
    return { task: work.order.task, index: work.order.item.index, item: work.order.item.id };
  }
}

/** A bug of this program, not the item's fault: the item is given back. */
function bugOutcome(work: Work, error: unknown): WorkOutcome {
  const reason = `a bug in Nightshift on this worker: ${error instanceof Error ? error.message : String(error)}`;
  return nothingDone(work, reason);
}

/** Only this worker is affected: the item is given back. */
export function nothingDone({ kind, order }: Work, reason: string): WorkOutcome {
  if (kind === 'lesson') return { role: 'manager', reason };
  const nothing = { verdicts: [], outputs: {}, captured: {}, recommendations: [], usage: {}, compacted: false };
  const trouble = { reason, isWorker: true as const };
  return { role: order.role, id: order.item.id, token: order.token, attempts: 0, reason, trouble, ...nothing };
}

/** The worker is stopping: not the fault of the item, and of no other worker. */
function givenBackByStop(outcome: WorkOutcome): WorkOutcome {
  if (outcome.role === 'manager' || outcome.to !== undefined) return outcome;
  const reason = 'the worker was stopped';
  return { ...outcome, reason, trouble: { reason, isWorker: true } };
}

function tooLarge(outcome: WorkOutcome): WorkOutcome {
  const reason = `its outcome is larger than ${LARGEST_MESSAGE / 1024 / 1024} MiB, the maximum in a fleet`;
  if (outcome.role === 'manager') return { role: 'manager', reason };
  const { trouble: _, ...rest } = outcome as Outcome;
  return {
    ...rest,
    to: 'failed',
    reason,
    failurePoint: 'outcome',
    verdicts: [],
    outputs: {},
    captured: {},
    recommendations: [],
  };
}
