import type { NightshiftEvent, Recommendation } from './events.ts';
import type { CriterionVerdict, Usage } from './model.ts';
import { Tally } from './tally.ts';

/**
 * What the journal tells about an item-task, for people (`status`, `show`) and for what a resumed run must not lose.
 * The table alone says what is done; this only says how it came to that.
 */
export interface ItemHistory {
  attempts: { number: number; status: string; reason?: string; at: string }[];
  dev?: { status: string; attempts: number; ms: number; reason?: string; at: string; model?: string };
  qa?: { status: string; reason?: string; verdicts: CriterionVerdict[]; at: string; model?: string };
  captured: Record<string, string>;
  usage: Usage;
  key?: string;
  /** Why it failed, if its last end was a failure. */
  failure?: string;
}

/**
 * The latest run of a shift. `end` is absent while it goes on, and for ever if it was killed, or ended by an error that
 * kept the journal from being written.
 */
export interface LastRun {
  readonly run: string;
  /** How many runs there were, with this one. */
  readonly number: number;
  readonly startedAt: string;
  /** With which it was started, as `--name=value`. */
  readonly flags?: readonly string[];
  /** Of its last event. */
  lastAt: string;
  usage: Usage;
  /** `error`: the code of the one that ended it. */
  end?: { readonly exitCode: number; readonly reason: string; readonly error?: string };
}

export class History {
  readonly #items = new Map<string, ItemHistory>();
  /** By task: what devs that succeeded recommended and no fold has settled yet, by item. */
  readonly #recommendations = new Map<string, Map<string, Recommendation[]>>();
  readonly tally = new Tally();
  usage: Usage = {};
  lastRun: LastRun | undefined;
  firstAt: string | undefined;
  lastAt: string | undefined;

  of(task: string, item: string): ItemHistory | undefined {
    return this.#items.get(`${task} ${item}`);
  }

  /** Rule P8: recommendations outlive an interruption. Only those of items that have passed count (rule L1). */
  unsettled(task: string): ReadonlyMap<string, readonly Recommendation[]> {
    return this.#recommendations.get(task) ?? new Map();
  }

  add(event: NightshiftEvent): void {
    this.firstAt ??= event.at;
    this.lastAt = event.at;
    this.tally.add(event);
    this.#followRun(event);
    switch (event.type) {
      case 'dev:started': {
        const item = this.#item(event);
        if (!item) return;
        item.attempts = [];
        delete item.dev;
        delete item.qa;
        item.key = event.key;
        return;
      }
      case 'attempt:finished': {
        const { attempt: number = 1, status, reason, at } = event;
        this.#item(event)?.attempts.push({ number, status, at, ...(reason === undefined ? {} : { reason }) });
        return;
      }
      case 'dev:finished':
        this.#devFinished(event);
        return;
      case 'qa:finished': {
        const item = this.#item(event);
        if (!item || event.status === 'NONE') return;
        const { status, reason, verdicts, at } = event;
        item.qa = { status, verdicts, at, ...(reason === undefined ? {} : { reason }), ...modelIn(event) };
        if (status === 'FAIL') item.failure = reason ?? 'qa failed it';
        else delete item.failure;
        return;
      }
      case 'item:withdrawn':
        this.#withdrawn(event);
        return;
      case 'usage:spent': {
        const item = this.#item(event);
        if (item) item.usage = sum(item.usage, event.usage);
        this.usage = sum(this.usage, event.usage);
        return;
      }
      case 'steps:changed':
      case 'steps:kept':
        for (const item of event.considered) this.#recommendations.get(event.task ?? '')?.delete(item);
        return;
    }
  }

  /** What is done by hand beside a run is none of its. */
  #followRun(event: NightshiftEvent): void {
    const { type, run, at } = event;
    if (type === 'run:started') {
      const number = (this.lastRun?.number ?? 0) + 1;
      const { flags } = event;
      this.lastRun = { run, number, startedAt: at, ...(flags ? { flags } : {}), lastAt: at, usage: {} };
    }
    const last = this.lastRun;
    if (!last || last.run !== run) return;
    last.lastAt = at;
    if (type === 'usage:spent') last.usage = sum(last.usage, event.usage);
    if (type !== 'run:finished') return;
    const { exitCode, reason, error } = event;
    last.end = { exitCode, reason, ...(error === undefined ? {} : { error }) };
  }

  #devFinished(event: Extract<NightshiftEvent, { type: 'dev:finished' }>): void {
    const item = this.#item(event);
    if (!item) return;
    const { status, attempts, ms, reason, at, task = '', item: id = '', index = 0 } = event;
    item.dev = { status, attempts, ms, at, ...(reason === undefined ? {} : { reason }), ...modelIn(event) };
    item.captured = event.captured ?? {};
    item.key = event.key;
    if (status.startsWith('FAILED')) item.failure = reason ?? status;
    const waiting = this.#recommendations.get(task) ?? new Map<string, Recommendation[]>();
    this.#recommendations.set(task, waiting);
    const texts = status === 'SUCCESS' ? (event.recommendations ?? []) : [];
    waiting.delete(id);
    if (texts.length > 0)
      waiting.set(
        id,
        texts.map((text) => ({ text, item: id, row: index + 1, attempts })),
      );
  }

  #withdrawn(event: Extract<NightshiftEvent, { type: 'item:withdrawn' }>): void {
    const item = this.#item(event);
    if (!item) return;
    // In a stream it may have been judged at that moment: the verdict is dropped with the result (rule T4).
    delete item.qa;
    if (event.reason.endsWith(' failed')) item.failure = event.reason;
  }

  #item(event: NightshiftEvent): ItemHistory | undefined {
    if (event.task === undefined || event.item === undefined) return undefined;
    const key = `${event.task} ${event.item}`;
    let item = this.#items.get(key);
    if (!item) {
      item = { attempts: [], captured: {}, usage: {} };
      this.#items.set(key, item);
    }
    return item;
  }
}

function modelIn({ model }: { model?: string }): { model?: string } {
  return typeof model === 'string' ? { model } : {};
}

const AMOUNTS = ['inputTokens', 'outputTokens', 'costUsd', 'unpricedTokens'] as const;

/** Unknown stays unknown: a sum of nothing is not 0. Tokens that came without a cost are remembered as such. */
export function sum(a: Usage, b: Usage | undefined): Usage {
  if (!b) return a;
  const total: { -readonly [K in keyof Usage]: Usage[K] } = { ...a };
  const tokens = (b.inputTokens ?? 0) + (b.outputTokens ?? 0);
  const added = b.costUsd === undefined && b.unpricedTokens === undefined && tokens > 0;
  for (const key of AMOUNTS) {
    const amount = key === 'unpricedTokens' && added ? tokens : b[key];
    if (amount !== undefined) total[key] = (a[key] ?? 0) + amount;
  }
  return total;
}

/** What is in `all` and was not told yet. */
export function rest(all: Usage, told: Usage): Usage | undefined {
  const left = AMOUNTS.flatMap((key) => {
    const amount = (all[key] ?? 0) - (told[key] ?? 0);
    return all[key] !== undefined && amount > 0 ? [[key, amount] as const] : [];
  });
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
