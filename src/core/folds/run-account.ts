import type { NightshiftEvent } from '../model/events.ts';
import type { CriterionVerdict, Usage } from '../model/model.ts';
import { sum } from '../model/usage.ts';
import { copyOf } from '../text/short-copy.ts';
import type { History } from './history.ts';
import { nameOf } from './sessions.ts';

/** Texts of others may all differ: an account stays small, whatever they say. */
const MOST = 1000;

/** An item-task that ended otherwise than the time before. */
export interface Turn {
  readonly task: string;
  /** 1-based, as it was when it ended. */
  readonly row: number;
  readonly label: string | undefined;
}

/** Something that happened several times. */
export interface Repeated {
  readonly text: string;
  readonly times: number;
  readonly ms: number;
}

/** How the item-tasks that passed were judged. */
interface Judged {
  readonly byCheck: number;
  readonly byAgent: number;
  readonly byBoth: number;
}

/** A change of a task's Steps. */
interface StepsTurn {
  readonly task: string;
  readonly from: string;
  to: string;
}

type Event<T extends NightshiftEvent['type']> = Extract<NightshiftEvent, { type: T }>;

/** What happened in one run, for its report: a fold over its events. */
export class RunAccount {
  readonly run: string;
  started: Event<'run:started'> | undefined;
  finished: Event<'run:finished'> | undefined;
  lastAt = '';
  usage: Usage = {};
  readonly judged = { byCheck: 0, byAgent: 0, byBoth: 0 };
  readonly newlyFailing = new Map<string, Turn>();
  readonly passingAgain = new Map<string, Turn>();
  readonly lessons: Event<'lesson:changed'>[] = [];
  readonly steps: StepsTurn[] = [];
  /** Agents with their models, as they reported them. */
  readonly agents = new Set<string>();
  #seq = 0;
  readonly #waits = new Map<string, { times: number; ms: number }>();
  readonly #troubles = new Map<string, { times: number; ms: number }>();
  readonly #warnings = new Map<string, { times: number; ms: number }>();

  constructor(run: string) {
    this.run = run;
  }

  /** Pauses after trouble, the longest first. */
  get waits(): Repeated[] {
    return listOf(this.#waits);
  }

  /** Why items were given back, which was not their fault. */
  get troubles(): Repeated[] {
    return listOf(this.#troubles);
  }

  get warnings(): Repeated[] {
    return listOf(this.#warnings);
  }

  get waitedMs(): number {
    return this.waits.reduce((total, { ms }) => total + ms, 0);
  }

  /** `before`: the history up to this event, without it. */
  add(event: NightshiftEvent, before: Pick<History, 'of'>): void {
    // A journal may have lines twice.
    if (event.run !== this.run || event.seq <= this.#seq) return;
    this.#seq = event.seq;
    this.lastAt = event.at;
    switch (event.type) {
      case 'run:started':
        this.started = event;
        return;
      case 'run:finished':
        this.finished = event;
        return;
      case 'run:warning':
        repeat(this.#warnings, event.message, 0);
        return;
      case 'run:waiting':
        repeat(this.#waits, event.reason, event.ms);
        return;
      case 'task:paused':
        repeat(this.#warnings, `${event.task}: ${event.reason}`, 0);
        return;
      case 'item:returned':
        repeat(this.#troubles, event.reason, 0);
        return;
      case 'usage:spent':
        this.usage = sum(this.usage, event.usage);
        return;
      case 'dev:finished':
        this.agents.add([event.agent ?? '', event.model ?? ''].filter((part) => part !== '').join(', model '));
        this.#ended(event, event.status.startsWith('FAILED') ? 'failed' : undefined, before);
        return;
      case 'qa:finished':
        this.#judged(event, before);
        return;
      case 'delivery:finished':
        if (event.failurePoint !== undefined) this.#ended(event, 'failed', before);
        return;
      case 'lesson:changed':
        if (this.lessons.length < MOST) this.lessons.push(event);
        return;
      case 'steps:changed':
        this.#stepsChanged(event);
    }
  }

  #judged(event: Event<'qa:finished'>, before: Pick<History, 'of'>): void {
    if (event.status === 'NONE') return;
    this.#ended(event, event.status === 'PASS' ? 'done' : 'failed', before);
    if (event.status === 'PASS') this.judged[judgeOf(event.verdicts)]++;
  }

  #ended(event: NightshiftEvent, to: 'done' | 'failed' | undefined, before: Pick<History, 'of'>): void {
    const { task = '', item = '', index = -1, label } = event;
    const name = nameOf(event);
    if (to === undefined) return;
    // What a run changes twice counts against the time before the run.
    const hadFailed =
      this.passingAgain.delete(name) ||
      (!this.newlyFailing.delete(name) && before.of(task, item)?.failure !== undefined);
    const turns = to === 'done' ? this.passingAgain : this.newlyFailing;
    if (hadFailed !== (to === 'failed')) turns.set(name, { task, row: index + 1, label });
  }

  #stepsChanged({ task = '', from, to }: Event<'steps:changed'>): void {
    const known = this.steps.find((each) => each.task === task);
    if (known) known.to = to;
    else this.steps.push({ task, from, to });
  }
}

function judgeOf(verdicts: readonly CriterionVerdict[]): keyof Judged {
  const checked = verdicts.filter((verdict) => verdict.checked).length;
  if (checked === verdicts.length) return 'byCheck';
  return checked === 0 ? 'byAgent' : 'byBoth';
}

function repeat(known: Map<string, { times: number; ms: number }>, reason: string, ms: number): void {
  const text = copyOf(reason);
  const found = known.get(text);
  if (found) {
    found.times++;
    found.ms += ms;
  } else if (known.size < MOST) known.set(text, { times: 1, ms });
}

function listOf(known: ReadonlyMap<string, { readonly times: number; readonly ms: number }>): Repeated[] {
  return [...known]
    .map(([text, { times, ms }]) => ({ text, times, ms }))
    .sort((a, b) => b.ms - a.ms || b.times - a.times);
}
