import { NightshiftError } from '../../core/model/errors.ts';
import type { ShiftCard, ShiftId } from '../../core/page/answers.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';
import type { OpenedShift } from './opened-shift.ts';
import { decisionsIn, statusOf } from './shift-answer.ts';
import { listShiftNames, type ShiftName } from './shift-place.ts';
import { within } from './within.ts';

/** An answer comes soon; what is not read by then is in the next one. */
const WAIT_MS = 1000;

interface Shifts {
  /** Of a shift that is watched: what was read of it is kept. */
  readonly keep: (id: ShiftId) => OpenedShift;
  /** Of one that is only listed. */
  readonly visit: (id: ShiftId) => OpenedShift;
  readonly now: () => number;
}

/** One line for each shift of a project. Those that don't change are read once, and then forgotten but for the line. */
export class ShiftCards {
  readonly #root: string;
  readonly #shifts: Shifts;
  readonly #known = new Map<ShiftId, { readonly version: string; readonly card: ShiftCard }>();
  readonly #reading = new Map<ShiftId, Promise<void>>();
  /** One after the other: each may take much memory. */
  #queue: Promise<void> = Promise.resolve();

  constructor(root: string, shifts: Shifts) {
    this.#root = root;
    this.#shifts = shifts;
  }

  /** Running first, then the latest. */
  async all(): Promise<ShiftCard[]> {
    const names = listShiftNames(this.#root);
    await within(Promise.all(names.map((name) => this.#read(name))), WAIT_MS);
    const cards = names.map(({ id, name, isArchived }) => {
      const card = this.#known.get(id)?.card ?? { id, name, isArchived };
      return this.#reading.has(id) ? { ...card, isPartial: true as const } : card;
    });
    for (const id of this.#known.keys()) if (!names.some((name) => name.id === id)) this.#known.delete(id);
    return cards.sort(inOrder);
  }

  #read(name: ShiftName): Promise<void> {
    const { id } = name;
    let reading = this.#reading.get(id);
    if (!reading) {
      this.#queue = this.#queue.catch(() => {}).then(() => this.#update(name));
      reading = this.#queue.finally(() => this.#reading.delete(id));
      this.#reading.set(id, reading);
    }
    return reading;
  }

  async #update(name: ShiftName): Promise<void> {
    const { id } = name;
    const visited = this.#shifts.visit(id);
    // The line of a run says when it will finish, which changes with the time.
    const isLive = isRunning(visited);
    if (!isLive && this.#known.get(id)?.version === visited.reader.look()) return;
    const shift = isLive ? this.#shifts.keep(id) : visited;
    const card = await this.#describe(name, shift, isLive);
    this.#known.set(id, { version: shift.reader.readVersion, card });
  }

  async #describe({ id, name, isArchived }: ShiftName, shift: OpenedShift, isLive: boolean): Promise<ShiftCard> {
    try {
      // Only what is kept can be read in parts.
      const reading = await (isLive ? shift.reader.read() : shift.reader.readWhole());
      const { status } = await statusOf(reading, this.#shifts.now());
      const run = await shift.runState();
      const lastReason = run?.lastReason ?? (status.running ? undefined : status.lastRun?.end?.reason);
      const { 'max-cost': maxCostUsd } = status.limits;
      return {
        ...{ id, name, isArchived, counts: status.counts, usage: status.usage },
        ...(reading.isPartial ? { isPartial: true } : {}),
        ...(status.running ? { runningSince: status.running.since } : {}),
        ...(status.paused ? { pausedSince: status.paused.since } : {}),
        ...(run?.waiting ? { waitingUntil: run.waiting.until } : {}),
        ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
        ...(run?.finish ? { finish: run.finish } : {}),
        ...(lastReason === undefined ? {} : { lastReason }),
        decisions: decisionsIn(reading, status),
        ...(reading.history.lastAt === undefined ? {} : { lastAt: reading.history.lastAt }),
      };
    } catch (error) {
      if (!(error instanceof NightshiftError)) throw error;
      return { id, name, isArchived, problem: error.message };
    }
  }
}

function isRunning({ reader }: OpenedShift): boolean {
  try {
    return currentHolder(reader.place.paths.runLock) !== undefined;
  } catch {
    return false;
  }
}

/** Archived shifts are in the order of the archive, the latest first. */
function inOrder(a: ShiftCard, b: ShiftCard): number {
  const rank = ({ runningSince, isArchived }: ShiftCard) => (runningSince ? 0 : isArchived ? 2 : 1);
  if (rank(a) !== rank(b) || a.isArchived) return rank(a) - rank(b);
  return Number((a.lastAt ?? '') < (b.lastAt ?? '')) - Number((a.lastAt ?? '') > (b.lastAt ?? ''));
}
