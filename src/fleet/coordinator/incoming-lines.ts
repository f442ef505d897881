import type { Emit } from '../../core/model/events.ts';
import { masked } from '../../core/model/masked.ts';
import type { Usage } from '../../core/model/model.ts';
import { rest, sum } from '../../core/model/usage.ts';
import type { Mask } from '../../core/text/mask.ts';
import type { FleetDatabase, Queryable } from '../database.ts';
import { countsAlways, eventOf, type NumberedLine, type Origin, originOf, readLine } from '../lines.ts';
import type { Report, Work } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';
import type { Epoch } from './epoch.ts';
import { readRows, removeRows } from './line-rows.ts';

/** Far more than run at once; older ones have no lines on their way any more. */
const MOST_ORDERS = 8192;
/** Workers that are named in a warning: whoever sends nonsense may do so under many names. */
const MOST_WARNINGS = 20;

export interface Journalling {
  readonly emit: Emit;
  /** Resolves when all events so far are durable. */
  flush(): Promise<void>;
  /** The number of the last line of a worker about an order that the journal has. */
  positionOf(order: string, worker: string): number;
  failpoint(name: 'lines:emitted' | 'lines:kept' | 'lines:taken'): void;
}

/** An order that this run knows about. */
interface KnownOrder {
  readonly origin: Origin;
  /** The run no longer waits for it: of its lines, only spending and refusals count. */
  isClosed: boolean;
  /** By worker. Several have it if a failover has made the database forget who had taken it. */
  readonly told: Map<string, Told>;
}

/** What the lines of a worker have told about an order. */
interface Told {
  /** Undefined: an earlier run has emitted some of them. */
  spent: Usage | undefined;
  /** A number was left out: a failover has lost lines. */
  hasGap: boolean;
}

/**
 * Events and transcripts of workers, which the coordinator emits as its own. They are removed after the journal is
 * durable. After a crash in between, the journal tells which ones it has: each counts once.
 */
export class IncomingLines {
  readonly #journalling: Journalling;
  readonly #shift: string;
  readonly #epoch: Pick<Epoch, 'number' | 'write'>;
  readonly #known = new Map<string, KnownOrder>();
  /** Orders whose lines stay in the database for now. */
  readonly #deferred = new Set<string>();
  /** The last line that was emitted, by order and worker. */
  readonly #emitted = new Map<string, number>();
  readonly #warned = new Set<string>();

  constructor(journalling: Journalling, shift: string, epoch: Pick<Epoch, 'number' | 'write'>) {
    this.#journalling = journalling;
    this.#shift = shift;
    this.#epoch = epoch;
  }

  /** Keeps the lines of an order of an earlier run in the database until the order is adopted or dismissed. */
  defer(order: string): void {
    this.#deferred.add(order);
  }

  /** For orders that are not expected, only spending and refusals count. */
  expect(order: string, work: Work): void {
    this.#known.set(order, { origin: originOf(work), isClosed: false, told: new Map() });
    this.#deferred.delete(order);
    if (this.#known.size > MOST_ORDERS) this.#forgetOldest();
  }

  /** The run no longer waits for this order. Its position and subject are kept for lines that arrive late. */
  close(order: string): void {
    const known = this.#known.get(order);
    if (known) known.isClosed = true;
    this.#deferred.delete(order);
  }

  hasEmitted(order: string, { worker, lines }: Pick<Report, 'worker' | 'lines'>): boolean {
    return this.#positionOf(order, worker) >= lines;
  }

  /** Whether the database has lines of this order. */
  async areWaiting(database: Queryable, order: string): Promise<boolean> {
    const { rows } = await database.query(`select from ${SCHEMA}.line where order_id = $1 and shift = $2 limit 1`, [
      order,
      this.#shift,
    ]);
    return rows.length > 0;
  }

  /**
   * The report counts. If lines were lost before it, what they told about spending is taken from the report. Lines that
   * still arrive are old.
   */
  accept(order: string, { worker, lines, outcome }: Report): void {
    const known = this.#known.get(order);
    if (!known) return;
    const { origin } = known;
    const { spent, hasGap } = this.#toldBy(worker, order, known);
    const position = this.#positionOf(order, worker);
    if (!hasGap && position >= lines) return;
    const { index, task } = origin.subject;
    const row = index === undefined ? '' : `row ${index + 1}, `;
    const what = `the database has lost events of an order (${row}task ${task})`;
    if (!spent) {
      this.#warn(`${what}: its spending may be counted only in part`);
      return;
    }
    const n = Math.max(lines, position);
    this.#remember(order, worker, n);
    const usage = 'usage' in outcome ? rest(outcome.usage, spent) : undefined;
    if (!usage) return;
    const { role, agent, subject } = origin;
    this.#journalling.emit({ type: 'usage:spent', role, agent, usage, ...subject, worker, order, n });
    this.#warn(`${what}: its spending is taken from its report`);
  }

  /** Emits what is there and removes it. Returns whether there may be more. */
  async take(database: FleetDatabase, mask: Mask): Promise<boolean> {
    const own = { shift: this.#shift, epoch: this.#epoch.number };
    const { rows, hasMore } = await readRows(database, own, [...this.#deferred]);
    if (rows.length === 0) return false;
    for (const { order_id: order, worker, lines } of rows) {
      if (!Array.isArray(lines)) this.#warnOf(worker);
      else for (const line of lines) this.#read(order, worker, line, mask);
    }
    this.#journalling.failpoint('lines:emitted');
    await this.#journalling.flush();
    this.#journalling.failpoint('lines:kept');
    await this.#epoch.write(database, (transaction) => removeRows(transaction, rows));
    this.#journalling.failpoint('lines:taken');
    return hasMore;
  }

  #read(order: string, worker: string, data: unknown, mask: Mask): void {
    const line = readLine(data);
    if (line) this.#emitOnce(order, worker, line, mask);
    else this.#warnOf(worker);
  }

  #emitOnce(order: string, worker: string, line: NumberedLine, mask: Mask): void {
    const position = this.#positionOf(order, worker);
    if (line.n <= position) return;
    const known = this.#known.get(order);
    const told = known && this.#toldBy(worker, order, known);
    // After a restart, a gap proves nothing: the position comes from the journal, which has no transcript lines.
    const isExact = position === 0 || this.#emitted.has(nameOf(order, worker));
    if (told && isExact && line.n > position + 1) told.hasGap = true;
    this.#remember(order, worker, line.n);
    if (!countsAlways(line) && (!known || known.isClosed)) return;
    const happening = eventOf(line, known?.origin);
    if (!happening) {
      this.#warnOf(worker);
      return;
    }
    if (told?.spent && happening.type === 'usage:spent') told.spent = sum(told.spent, happening.usage);
    this.#journalling.emit({ ...masked(mask, happening), worker, order, n: line.n });
  }

  #warnOf(worker: string): void {
    if (this.#warned.has(worker) || this.#warned.size >= MOST_WARNINGS) return;
    this.#warned.add(worker);
    this.#warn(`ignoring invalid events from worker ${worker}`);
  }

  #warn(message: string): void {
    this.#journalling.emit({ type: 'run:warning', message });
  }

  #forgetOldest(): void {
    for (const [order, { isClosed }] of this.#known) if (isClosed) return void this.#known.delete(order);
  }

  #toldBy(worker: string, order: string, { told }: KnownOrder): Told {
    const known = told.get(worker);
    if (known) return known;
    const first = { spent: this.#positionOf(order, worker) === 0 ? {} : undefined, hasGap: false };
    told.set(worker, first);
    return first;
  }

  #remember(order: string, worker: string, n: number): void {
    const name = nameOf(order, worker);
    this.#emitted.delete(name);
    this.#emitted.set(name, n);
    if (this.#emitted.size > MOST_ORDERS) this.#emitted.delete(this.#emitted.keys().next().value!);
  }

  #positionOf(order: string, worker: string): number {
    return this.#emitted.get(nameOf(order, worker)) ?? this.#journalling.positionOf(order, worker);
  }
}

function nameOf(order: string, worker: string): string {
  return `${order} ${worker}`;
}
