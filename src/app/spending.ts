import type { Happening } from '../core/model/events.ts';
import type { Usage } from '../core/model/model.ts';
import { sum } from '../core/model/usage.ts';
import { limitsInForce, type SetLimits, type UsedUp, usedUp } from '../core/schedule/limits.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { spentIn } from './history.ts';
import { EventStream, newRun } from './run/event-stream.ts';
import { processTime } from './run/process-time.ts';
import type { World } from './world.ts';

type Spent = Extract<Happening, { type: 'usage:spent' }>;

/** What a command outside of a run spends. It counts for the shift, and ends at a limit (rule X6). */
export interface Spending extends AsyncDisposable {
  /** Of this command alone. */
  readonly usage: Usage;
  /** The limit of the shift that is used up now. */
  readonly reached: UsedUp | undefined;
  add(spent: Spent): void;
  /** From now on, its time counts too. */
  begin(): void;
}

export async function openSpending(world: World, paths: ShiftPaths, set: SetLimits): Promise<Spending> {
  const run = newRun(new Date(world.now()).toISOString());
  const stream = await new EventStream(run, paths, world, { onEvent: () => {} }).open();
  const limits = limitsInForce(set, false, world.now());
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
      return usedUp(limits, { ...spent, ms: spent.ms + took() }, world.now());
    },
    add({ type, role, agent, task, usage: more }) {
      usage = sum(usage, more);
      // Without the item: a test is no part of the item's history.
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
