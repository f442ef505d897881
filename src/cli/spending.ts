import type { Agent, Answer, Session } from '../agents/agent.ts';
import type { Happening } from '../core/events.ts';
import { limitsInForce, type SetLimits, type UsedUp, usedUp } from '../core/limits.ts';
import type { Usage } from '../core/model.ts';
import { sum } from '../core/usage.ts';
import type { ShiftPaths } from '../store/layout.ts';
import { EventStream, newRun } from './event-stream.ts';
import { spentIn } from './history.ts';
import type { Io } from './io.ts';

type Spent = Extract<Happening, { type: 'usage:spent' }>;

/** What a command that is no run spends of a shift's money: it counts, and ends at a limit (rule X6). */
export interface Spending extends AsyncDisposable {
  /** By this command alone. */
  readonly usage: Usage;
  /** The limit of the shift that is used up now. */
  readonly reached: UsedUp | undefined;
  add(spent: Spent): void;
  /** An agent that is asked nothing more once a limit is used up. */
  bound(agent: Agent | undefined): Agent | undefined;
}

export async function openSpending(io: Io, paths: ShiftPaths, set: SetLimits): Promise<Spending> {
  const run = newRun(new Date(io.now()).toISOString());
  const stream = await new EventStream(run, paths, io, { onEvent: () => {} }).open();
  const limits = limitsInForce(set, false, io.now());
  let usage: Usage = {};
  const reached = () => usedUp(limits, spentIn(stream.history), io.now());
  return {
    get usage() {
      return usage;
    },
    get reached() {
      return reached();
    },
    add({ type, role, agent, task, usage: more }) {
      usage = sum(usage, more);
      // Of no item: what the table says of one was done without it.
      stream.emit({ type, role, agent, ...(task === undefined ? {} : { task }), usage: more });
    },
    bound: (agent) => agent && boundAgent(agent, reached),
    [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
  };
}

function boundAgent(agent: Agent, reached: () => UsedUp | undefined): Agent {
  const open: Agent['open'] = async (opening) => {
    const session = await agent.open(opening);
    const ask = async (question: Parameters<Session['ask']>[0]): Promise<Answer> => {
      const limit = reached();
      return limit ? { kind: 'trouble', trouble: { reason: limit.text } } : session.ask(question);
    };
    return {
      ask,
      get remembers() {
        return session.remembers;
      },
      [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
    };
  };
  return Object.create(agent, { open: { value: open } });
}
