import type { NightshiftEvent } from '../model/events.ts';
import type { Usage } from '../model/model.ts';
import { sum } from '../model/usage.ts';
import { nameOf } from './sessions.ts';
import { Thinned } from './thinned.ts';
import { ViewState } from './view-state.ts';

const MOST_RUNS = 200;
const MOST_CHANGES = 500;
const MOST_SPENDERS = 50;

interface ChartedRun {
  readonly run: string;
  readonly startedAt: string;
  endedAt?: string;
}

export interface BurnDownPoint {
  readonly at: string;
  /** Item-tasks that are not over. */
  readonly left: number;
  readonly failed: number;
}

interface ConcurrencyChange {
  readonly at: string;
  readonly task: string;
  readonly size: number;
  readonly reason: string;
}

export interface Spender {
  readonly role: string;
  readonly agent: string;
  /** Absent if its program did not name one. */
  readonly model?: string;
}

/** The course of all runs of a shift, for charts: a fold over the whole journal that stays small, however long it is. */
export class Charts {
  /** The latest ones. */
  runs: ChartedRun[] = [];
  /** In the scope of each run, as its live view counts. */
  readonly burnDown = new Thinned<BurnDownPoint>();
  #changes: ConcurrencyChange[] = [];
  /** One for all tasks. */
  #size: number | undefined;
  readonly #spent = new Map<string, { readonly spender: Spender; usage: Usage }>();
  /** By session: what it spent before its end, which tells the model. */
  readonly #unsettled = new Map<string, { readonly role: string; readonly agent: string; usage: Usage }>();
  #view: ViewState | undefined;

  /** The latest changes. */
  get concurrency(): ConcurrencyChange[] {
    return this.#changes.slice(-MOST_CHANGES);
  }

  /** What each role, agent and model spent. */
  get spend(): readonly (Spender & { readonly usage: Usage })[] {
    const settled = new Charts();
    for (const { spender, usage } of this.#spent.values()) settled.#spend(spender, usage);
    for (const { role, agent, usage } of this.#unsettled.values()) settled.#spend({ role, agent }, usage);
    return [...settled.#spent.values()].map(({ spender, usage }) => ({ ...spender, usage }));
  }

  add(event: NightshiftEvent): void {
    const last = this.runs.at(-1);
    switch (event.type) {
      case 'run:started':
        this.runs = [...this.runs.slice(1 - MOST_RUNS), { run: event.run, startedAt: event.at }];
        this.#view = new ViewState();
        for (const name of [...this.#unsettled.keys()]) this.#settle(name);
        break;
      case 'run:finished':
        if (last?.run === event.run) last.endedAt = event.at;
        break;
      case 'batch:claimed':
        this.#resize(event, event.size, '');
        break;
      case 'batch:finished':
      case 'concurrency:changed':
        this.#resize(event, event.to, event.reason);
        break;
      case 'usage:spent':
        this.#spending(event);
        break;
      case 'dev:finished':
      case 'qa:finished':
        this.#settle(sessionOf(event.type === 'dev:finished' ? 'dev' : 'qa', event), event.model);
        break;
    }
    this.#burn(event);
  }

  #burn(event: NightshiftEvent): void {
    const view = this.#view;
    if (!view || (event.run !== '' && event.run !== this.runs.at(-1)?.run)) return;
    view.add(event);
    const { remaining: left, failed } = view.counts;
    const before = this.burnDown.last;
    if (
      event.type === 'run:started' ||
      event.type === 'run:finished' ||
      before?.left !== left ||
      before.failed !== failed
    ) {
      this.burnDown.add({ at: event.at, left, failed });
    }
  }

  #resize({ at, task = '' }: NightshiftEvent, size: unknown, text: unknown): void {
    if (typeof size !== 'number' || this.#size === size) return;
    this.#size = size;
    this.#changes.push({ at, task, size, reason: typeof text === 'string' ? text : '' });
    if (this.#changes.length >= 2 * MOST_CHANGES) this.#changes = this.concurrency;
  }

  #spending(event: Extract<NightshiftEvent, { type: 'usage:spent' }>): void {
    const { role, agent, usage, item } = event;
    // The manager, and tests of a task, work on no item: nothing tells their model.
    if (item === undefined || role === 'manager') {
      this.#spend({ role, agent }, usage);
      return;
    }
    const name = sessionOf(role, event);
    this.#unsettled.set(name, { role, agent, usage: sum(this.#unsettled.get(name)?.usage ?? {}, usage) });
  }

  #settle(name: string, model?: unknown): void {
    const waiting = this.#unsettled.get(name);
    if (!waiting) return;
    this.#unsettled.delete(name);
    const { role, agent, usage } = waiting;
    this.#spend({ role, agent, ...(typeof model === 'string' ? { model } : {}) }, usage);
  }

  #spend(spender: Spender, usage: Usage): void {
    const key = JSON.stringify([spender.role, spender.agent, spender.model]);
    // A journal may contain anything.
    const isKept = this.#spent.has(key) || this.#spent.size < MOST_SPENDERS;
    const known = this.#spent.get(isKept ? key : 'others');
    const named = isKept ? spender : { role: 'others', agent: 'others' };
    this.#spent.set(isKept ? key : 'others', { spender: named, usage: sum(known?.usage ?? {}, usage) });
  }
}

function sessionOf(role: string, event: NightshiftEvent): string {
  return `${role} ${nameOf(event)}`;
}
