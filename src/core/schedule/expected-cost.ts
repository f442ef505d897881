import type { NightshiftEvent } from '../model/events.ts';
import type { Usage } from '../model/model.ts';
import { type Limits, moneyLimits, tokensIn } from './budget.ts';

/** What the limits on money count. */
export interface Cost {
  readonly costUsd: number;
  readonly tokens: number;
}

/** An item-task. */
interface Subject {
  readonly task: string;
  /** The id of the item. */
  readonly id: string;
}

interface RunningItems {
  readonly items: Iterable<Subject>;
  readonly now: number;
}

const NOTHING: Cost = { costUsd: 0, tokens: 0 };

export function costIn(usage: Usage): Cost {
  return { costUsd: usage.costUsd ?? 0, tokens: tokensIn(usage) };
}

/** What items of a task that have ended cost, and how long they took. */
interface Ended {
  readonly items: number;
  readonly cost: Cost;
  readonly ms: number;
}

interface Begun {
  readonly at: number;
  readonly spent: Cost;
  /** This run saw the start: not so for items that it adopted. */
  readonly isStarted: boolean;
}

/** Rule X6: what running items will probably cost, from what items of the same task have cost. */
export class ExpectedCosts {
  readonly #ended = new Map<string, Ended>();
  /** Items that have not ended, by item-task. */
  readonly #begun = new Map<string, Begun>();

  add(event: NightshiftEvent): void {
    const { type, task, item: id } = event;
    if (task === undefined || id === undefined) return;
    const name = nameOf({ task, id });
    const at = Date.parse(event.at);
    const known = this.#begun.get(name);
    // What was spent before the start is of an earlier claim: a worker that was lost told it late.
    const isLate = type === 'dev:started' && known?.isStarted === false;
    const begun = known && !isLate ? known : { at, spent: NOTHING, isStarted: false };
    if (type === 'dev:started' || type === 'qa:started') this.#begun.set(name, { ...begun, isStarted: true });
    if (type === 'usage:spent') this.#begun.set(name, { ...begun, spent: plus(begun.spent, costIn(event.usage)) });
    if (type === 'item:recorded' && (event.to === 'done' || event.to === 'failed')) {
      this.addItem(task, begun.spent, at - begun.at);
    }
    const isOver = type === 'item:recorded' ? event.to !== 'qa' : type === 'item:returned' || type === 'item:withdrawn';
    if (isOver) this.#begun.delete(name);
  }

  /** An item that has ended. */
  addItem(task: string, cost: Cost, ms: number): void {
    const before = this.#ended.get(task) ?? { items: 0, cost: NOTHING, ms: 0 };
    this.#ended.set(task, {
      items: before.items + 1,
      cost: plus(before.cost, cost),
      ms: before.ms + Math.max(0, ms),
    });
  }

  /** Of one item of the task; nothing if none has ended yet. */
  mean(task: string): Cost {
    const { items, cost } = this.#ended.get(task) ?? { items: 1, cost: NOTHING };
    return times(cost, 1 / items);
  }

  /**
   * What running items have yet to report. Those that run now are not like those that have ended: the longest are
   * among them. So each is expected to cost the mean from now on, and by its time so far, if it has not reported that.
   */
  outstanding({ items, now }: RunningItems): Cost {
    let all = NOTHING;
    for (const subject of items) {
      const { cost, ms } = this.#ended.get(subject.task) ?? { cost: NOTHING, ms: 0 };
      const { at, spent } = this.#begun.get(nameOf(subject)) ?? { at: now, spent: NOTHING };
      const byTime = ms === 0 ? NOTHING : times(cost, Math.max(0, now - at) / ms);
      all = plus(all, plus(this.mean(subject.task), less(byTime, spent)));
    }
    return all;
  }

  /** How many more items of a task the limits allow, if all cost what is expected. */
  affordable(task: string, limits: Limits, spent: Cost, running: RunningItems): number {
    const one = this.mean(task);
    if (moneyLimits(limits).length === 0) return Number.POSITIVE_INFINITY;
    const reserved = plus(spent, this.outstanding(running));
    const room = (limit: number | undefined, key: keyof Cost) =>
      limit === undefined || one[key] === 0
        ? Number.POSITIVE_INFINITY
        : Math.max(0, Math.floor((limit - reserved[key]) / one[key]));
    return Math.min(room(limits['max-cost'], 'costUsd'), room(limits['max-tokens'], 'tokens'));
  }
}

/** Task names have no spaces. */
function nameOf({ task, id }: Subject): string {
  return `${task} ${id}`;
}

function plus(a: Cost, b: Cost): Cost {
  return { costUsd: a.costUsd + b.costUsd, tokens: a.tokens + b.tokens };
}

/** Not below 0. */
function less(a: Cost, b: Cost): Cost {
  return { costUsd: Math.max(0, a.costUsd - b.costUsd), tokens: Math.max(0, a.tokens - b.tokens) };
}

function times({ costUsd, tokens }: Cost, factor: number): Cost {
  return { costUsd: costUsd * factor, tokens: tokens * factor };
}
