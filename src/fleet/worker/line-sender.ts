import type { Happening, TranscriptHappening } from '../../core/model/events.ts';
import { count } from '../../core/text/count.ts';
import { type Queryable, type RetryOptions, untilAnswered } from '../database.ts';
import { describeFailure } from '../failure.ts';
import type { Line } from '../lines.ts';
import { channelOf } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';
import { storable } from '../storable.ts';

/** Lines wait this long for others, so that a talkative agent needs few statements. */
const GATHER_MS = 300;
/** More is sent at once, and in several rows: the coordinator reads many of them together. */
const MOST_BYTES = 256 * 1024;
/** Lines of a transcript beyond this are dropped while the database is away, so that a worker keeps its memory. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

export interface LineTarget {
  readonly order: string;
  readonly shift: string;
  readonly worker: string;
}

interface WaitingLine {
  readonly line: Line;
  readonly bytes: number;
}

/** Sends the events and transcripts of one order, in their order, each exactly once. */
export class LineSender {
  readonly #database: Queryable;
  readonly #target: LineTarget;
  readonly #retry: RetryOptions;
  #n = 0;
  readonly #waiting: WaitingLine[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  #isSending = false;

  constructor(database: Queryable, target: LineTarget, retry: RetryOptions) {
    this.#database = database;
    this.#target = target;
    this.#retry = retry;
  }

  /** The number of the last line. */
  get count(): number {
    return this.#n;
  }

  readonly add = (told: Happening | TranscriptHappening): void => {
    const what = storable(told);
    const bytes = Buffer.byteLength(JSON.stringify(what));
    if (what.type === 'transcript' && this.#bytes + bytes > MOST_WAITING_BYTES) return;
    this.#waiting.push({ line: { n: ++this.#n, what }, bytes });
    this.#bytes += bytes;
    if (this.#bytes >= MOST_BYTES && !this.#isSending) void this.flush().catch(() => {});
    else this.#timer ??= setTimeout(() => void this.flush().catch(() => {}), GATHER_MS);
  };

  /** Resolves when all lines so far are in the database. Rejects if the worker ends before. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const sending = this.#sending.catch(() => {}).then(() => this.#sendAll());
    this.#sending = sending;
    sending.catch(() => {});
    return sending;
  }

  async #sendAll(): Promise<void> {
    const last = this.#n;
    this.#isSending = true;
    try {
      while (this.#waiting.length > 0 && this.#waiting[0]!.line.n <= last) await this.#sendOrReduce(this.#takeBatch());
    } finally {
      this.#isSending = false;
    }
  }

  #takeBatch(): Line[] {
    let length = 0;
    for (let bytes = 0; length < this.#waiting.length; length++) {
      bytes += this.#waiting[length]!.bytes;
      if (length > 0 && bytes > MOST_BYTES) break;
    }
    const batch = this.#waiting.splice(0, length);
    for (const { bytes } of batch) this.#bytes -= bytes;
    return batch.map(({ line }) => line);
  }

  /**
   * Lines that the database can't keep must not end the order. If not even its spending can be kept, the coordinator
   * takes that from the report.
   */
  async #sendOrReduce(lines: readonly Line[]): Promise<void> {
    try {
      await this.#send(lines).catch((error: unknown) => {
        if (this.#retry.signal.aborted) throw error;
        return this.#send(reduced(lines, this.#target.worker, describeFailure(error)));
      });
    } catch (error) {
      if (this.#retry.signal.aborted) throw error;
      this.#retry.onFailure?.(describeFailure(error));
    }
  }

  async #send(lines: readonly Line[]): Promise<void> {
    const { order, shift, worker } = this.#target;
    const json = JSON.stringify(lines);
    await untilAnswered(
      () =>
        // The number makes a repeated statement harmless.
        this.#database.query(
          `with added as (
             insert into ${SCHEMA}.line (order_id, n, shift, worker, lines) values ($1, $2, $3, $4, $5)
             on conflict do nothing returning 1)
           select pg_notify($6, 'ended:' || $3) from added`,
          [order, lines[0]!.n, shift, worker, json, channelOf(shift)],
        ),
      this.#retry,
    );
  }
}

/** Keeps the spending, and replaces the last of the other lines with a warning that they are missing. */
function reduced(lines: readonly Line[], worker: string, reason: string): Line[] {
  const spent = lines.filter(({ what }) => what.type === 'usage:spent');
  const others = lines.filter(({ what }) => what.type !== 'usage:spent');
  const message = `${count(others.length, 'line')} from worker ${worker} can't be stored: ${reason}`;
  const n = others.at(-1)?.n;
  const warning: Line[] = n === undefined ? [] : [{ n, what: storable({ type: 'run:warning', message }) }];
  return [...spent, ...warning].sort((a, b) => a.n - b.n);
}
