import type { Happening } from '../core/events.ts';
import { limitsInForce, type SetLimits, type UsedUp, usedUp } from '../core/limits.ts';
import type { Usage } from '../core/model.ts';
import { sum } from '../core/usage.ts';
import type { ShiftPaths } from '../store/layout.ts';
import { EventStream, newRun } from './event-stream.ts';
import { spentIn } from './history.ts';
import type { Io } from './io.ts';
import { processTime } from './process-time.ts';

type Spent = Extract<Happening, { type: 'usage:spent' }>;

/** What a command that is no run spends of a shift's money: it counts, and ends at a limit (rule X6). */
export interface Spending extends AsyncDisposable {
  /** By this command alone. */
  readonly usage: Usage;
  /** The limit of the shift that is used up now. */
  readonly reached: UsedUp | undefined;
  add(spent: Spent): void;
  /** From now on its time counts, too. */
  begin(): void;
}

export async function openSpending(io: Io, paths: ShiftPaths, set: SetLimits): Promise<Spending> {
  const run = newRun(new Date(io.now()).toISOString());
  const stream = await new EventStream(run, paths, io, { onEvent: () => {} }).open();
  const limits = limitsInForce(set, false, io.now());
  const time = processTime();
  let usage: Usage = {};
  let begunAt: number | undefined;
  const took = () => (begunAt === undefined ? 0 : Math.round(time.elapsed() - begunAt));
  return {
    get usage() {
      return usage;
    },
    get reached() {
      const spent = spentIn(stream.history);
      return usedUp(limits, { ...spent, ms: spent.ms + took() }, io.now());
    },
    add({ type, role, agent, task, usage: more }) {
      usage = sum(usage, more);
      // Of no item: what the table says of one was done without it.
      stream.emit({ type, role, agent, ...(task === undefined ? {} : { task }), usage: more });
    },
    begin() {
      begunAt = time.elapsed();
    },
    async [Symbol.asyncDispose]() {
      if (begunAt !== undefined) {
        stream.emit({ type: 'usage:spent', role: 'manager', agent: 'test-task', usage: {}, ms: took() });
      }
      await stream[Symbol.asyncDispose]();
    },
  };
}
