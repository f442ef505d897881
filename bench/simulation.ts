import { History } from '../src/core/folds/history.ts';
import type { LeaseTerms } from '../src/core/model/lease.ts';
import type { Order, Outcome } from '../src/core/model/model.ts';
import { NO_PROTECTION } from '../src/core/model/protection.ts';
import type { Shift } from '../src/core/model/shift.ts';
import { STATUSES, type Status } from '../src/core/model/status.ts';
import { Returns } from '../src/core/schedule/returns.ts';
import { RunControl } from '../src/engine/control.ts';
import { runShift } from '../src/engine/run.ts';
import { compileShift } from '../src/formats/compile.ts';
import { parseManager } from '../src/formats/manager.ts';
import { parseTask } from '../src/formats/task.ts';
import type { Documents } from '../src/store/documents.ts';
import type { Claim, Snapshot, Store, WriteResult } from '../src/store/store.ts';
import { managerText, SHIFT, TASK } from './project.ts';
import { SimulatedClock } from './simulated-clock.ts';

export interface SimulatedItem {
  readonly devMs: number;
  readonly qaMs: number;
  /** Found by its qa, when all the time was spent. */
  readonly fails: boolean;
}

/** How long the real scheduler takes for these items, in simulated milliseconds. */
export async function simulate(
  items: readonly SimulatedItem[],
  settings: Readonly<Record<string, string | number | boolean>>,
): Promise<number> {
  const clock = new SimulatedClock();
  const store = new Statuses(items.length);
  const documents = new Manifest();
  // The size that is written back is read again, as from a file.
  const shifts = new Map<number | undefined, Shift>();
  const load = async () => {
    const size = documents.size;
    const shift =
      shifts.get(size) ?? shiftOf(size === undefined ? settings : { ...settings, 'current-batch-size': size });
    shifts.set(size, shift);
    return shift;
  };
  await clock.run(async () =>
    runShift(
      {
        store,
        owner: 'simulated',
        documents,
        load,
        agents: () => ({ find: () => undefined, secrets: {}, caller: {} }),
        check: () => Promise.reject(new Error('there are no checks')),
        folders: {
          enter: () => ({ [Symbol.dispose]: () => {} }),
          watch: () => Promise.reject(new Error('there are no files')),
        },
        protection: NO_PROTECTION,
        perform: async (order) => {
          const { devMs, qaMs, fails } = items[order.item.index]!;
          await clock.sleep(order.role === 'dev' ? devMs : qaMs);
          return outcomeOf(order, order.role === 'dev' ? 'qa' : fails ? 'failed' : 'done');
        },
        emit: () => {},
        listen: () => {},
        inFlight: () => 0,
        flush: async () => {},
        checkKept: () => {},
        history: new History(),
        asked: new Map(),
        returns: new Returns(),
        stop: new RunControl(),
        select: () => ({ includes: () => true }),
        endLeftovers: async () => 0,
        clock,
        random: () => 0.5,
      },
      await load(),
    ),
  );
  const open = items.length - store.count('done') - store.count('failed');
  if (open > 0) throw new Error(`${open} items were left`);
  return clock.now();
}

const TASK_TEXT =
  '## Configuration\n\n- agent: command\n- command: simulated\n\n## Steps\n\n1. Do it\n\n## Validation\n\n- It is done\n';

function shiftOf(settings: Readonly<Record<string, string | number | boolean>>): Shift {
  const file = `${TASK}.md`;
  return compileShift(
    {
      name: SHIFT,
      root: '/',
      folder: '/',
      table: '/table.csv',
      managerFile: 'manager.md',
      manager: parseManager(managerText(settings), 'manager.md'),
      tasks: [{ name: TASK, file, document: parseTask(TASK_TEXT, file) }],
      secrets: new Map(),
    },
    ['name', TASK],
  );
}

function outcomeOf({ role, item, token }: Order, to: 'qa' | 'done' | 'failed'): Outcome {
  const nothing = { verdicts: [], outputs: {}, captured: {}, recommendations: [], usage: {}, compacted: false };
  return { role, id: item.id, token, to, attempts: 1, ...nothing };
}

/** `manager.md`, as far as the scheduler writes it. */
class Manifest implements Documents {
  size: number | undefined;

  async finishBatch(...[, size]: Parameters<Documents['finishBatch']>): Promise<number | undefined> {
    this.size = size?.to ?? this.size;
    return size?.to;
  }

  folderId = async (): Promise<string> => SHIFT;
  writeSteps = async (): Promise<undefined> => undefined;
  keepVersion = async (): Promise<void> => {};
  protect = (): AsyncDisposable => ({ [Symbol.asyncDispose]: async () => {} });
  putBack = async (): Promise<[]> => [];
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
