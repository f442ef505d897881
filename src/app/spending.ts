import type { Happening } from '../core/model/events.ts';
import type { Usage } from '../core/model/model.ts';
import { sum } from '../core/model/usage.ts';
import { type LimitSettings, limitsInForce, type ReachedLimit, usedUp } from '../core/schedule/budget.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { spentIn } from './history.ts';
import { EventStream, newRun } from './run/event-stream.ts';
import { processClock } from './run/process-time.ts';
import type { World } from './world.ts';

type UsageEvent = Extract<Happening, { type: 'usage:spent' }>;

/** How often the time that is left is checked. */
const LOOK_EVERY_MS = 1000;

/** What a command that is not a run spends: it counts for the shift, and a limit ends it (rule X6). */
export interface Spending extends AsyncDisposable {
  /** Of this command alone. */
  readonly usage: Usage;
  /** The limit of the shift that is used up now. */
  readonly reached: ReachedLimit | undefined;
  /** Aborts at a limit, which its reason names: no agent is asked anything more. */
  readonly spentUp: AbortSignal;
  add(event: UsageEvent): void;
  /** From now on its time counts too. */
  begin(): void;
}

export async function openSpending(world: World, paths: ShiftPaths, set: LimitSettings): Promise<Spending> {
  const run = newRun(new Date(world.now()).toISOString());
  const stream = await new EventStream(run, paths, world, { onEvent: () => {} }).open();
  const limits = limitsInForce(set, false, world.now());
  const clock = processClock(world.now);
  const spentUp = new AbortController();
  const closed = new AbortController();
  let usage: Usage = {};
  let begunAt: number | undefined;
  const took = () => (begunAt === undefined ? 0 : Math.round(clock.elapsed() - begunAt));
  const reached = () => {
    const spent = spentIn(stream.history);
    return usedUp(limits, { ...spent, ms: spent.ms + took() }, world.now());
  };
  const check = () => {
    const limit = reached();
    if (limit) spentUp.abort(limit.text);
  };
  const followTime = async () => {
    while (await clock.sleep(LOOK_EVERY_MS, closed.signal)) check();
  };
  return {
    get usage() {
      return usage;
    },
    get reached() {
      return reached();
    },
    spentUp: spentUp.signal,
    add({ type, role, agent, task, usage: more }) {
      usage = sum(usage, more);
      // Without the item: a test is no part of the item's history.
      stream.emit({ type, role, agent, ...(task === undefined ? {} : { task }), usage: more });
      check();
    },
    begin() {
      begunAt = clock.elapsed();
      void followTime();
    },
    async [Symbol.asyncDispose]() {
      closed.abort();
      if (begunAt !== undefined) {
        stream.emit({ type: 'usage:spent', role: 'manager', agent: 'test-task', usage: {}, ms: took() });
      }
      await stream[Symbol.asyncDispose]();
    },
  };
}
