import type { LeaseTerms } from '../src/core/model/lease.ts';
import { STATUSES, type Status } from '../src/core/model/status.ts';
import type { Claim, Snapshot, Store, WriteResult } from '../src/store/store.ts';
import { SimulatedShift } from '../test/kit/simulated-shift.ts';
import { TASK } from './project.ts';

export interface SimulatedItem {
  readonly devMs: number;
  readonly qaMs: number;
  /** Its qa finds out, after all the time was spent. */
  readonly fails: boolean;
}

/** How long the real scheduler takes for these items, in simulated milliseconds. */
export async function simulate(
  items: readonly SimulatedItem[],
  settings: Readonly<Record<string, string | number | boolean>>,
): Promise<number> {
  const store = new Statuses(items.length);
  const shift = new SimulatedShift({
    ...{ rows: 0, tasks: [TASK], settings, store },
    play: ({ role, item }) => {
      const { devMs, qaMs, fails } = items[item.index]!;
      return role === 'dev' ? { ms: devMs } : { ms: qaMs, end: fails ? 'fail' : 'pass' };
    },
  });
  const { ms } = await shift.run();
  const open = items.length - store.count('done') - store.count('failed');
  if (open > 0) throw new Error(`${open} items were left`);
  return ms;
}

/** A store that costs no time: one task, items by their row. */
class Statuses implements Store {
  readonly #column: Uint8Array;
  readonly #claimed = new Map<string, number>();

  constructor(count: number) {
    this.#column = new Uint8Array(count).fill(STATUSES.indexOf('todo'));
  }

  count(status: Status): number {
    return this.#column.filter((code) => STATUSES[code] === status).length;
  }

  async snapshot(): Promise<Snapshot> {
    return {
      count: this.#column.length,
      tasks: [TASK],
      columns: [this.#column.slice()],
      header: ['name', TASK],
      id: String,
      rowOf: Number,
      metadata: (row) => ({ name: `item-${row}` }),
      cell: (row) => `item-${row}`,
    };
  }

  adopt = async (): Promise<undefined> => undefined;

  async claim(task: string, ids: readonly string[], { owner, expiresAt }: LeaseTerms): Promise<Claim[]> {
    return ids.map((id) => {
      const row = Number(id);
      const token = `token-${row}`;
      this.#set(row, 'todo', 'in_progress');
      this.#claimed.set(token, row);
      return { id, task, row, token, owner, expiresAt, status: 'in_progress' };
    });
  }

  async record(token: string, from: Status, to: Status): Promise<WriteResult> {
    this.#set(this.#claimed.get(token)!, from, to);
    return { ok: true };
  }

  #set(row: number, from: Status, to: Status): void {
    const now = STATUSES[this.#column[row]!];
    if (now !== from) throw new Error(`row ${row + 1} is ${now}, not ${from}`);
    this.#column[row] = STATUSES.indexOf(to);
  }

  release = (): Promise<WriteResult> => Promise.reject(new Error('nothing is given back'));
  prepare = async (): Promise<void> => {};
  renew = async (): Promise<[]> => [];
  leases = async (): Promise<[]> => [];
  giveBackStale = async (): Promise<number> => 0;
  reset = async (): Promise<number> => 0;
  changes = async (): Promise<[]> => [];
  restore = async (): Promise<undefined> => undefined;
}
