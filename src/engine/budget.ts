import type { FindTraits } from '../core/model/agent-traits.ts';
import type { NightshiftEvent } from '../core/model/events.ts';
import type { Shift, Task } from '../core/model/shift.ts';
import {
  type Expenses,
  type LimitSettings,
  type Limits,
  limitsInForce,
  moneyLimits,
  moneyUsedUp,
  type ReachedLimit,
  sameFailures,
  timeIsOver,
  usedUp,
} from '../core/schedule/budget.ts';
import { costIn, ExpectedCosts } from '../core/schedule/expected-cost.ts';
import type { Scope } from '../core/schedule/plan.ts';
import { localTime } from '../core/text/local-time.ts';
import type { RunPorts } from './ports.ts';

type Ports = Pick<RunPorts, 'findAgent' | 'clock' | 'control' | 'events' | 'running'>;

/** Machines sleep and clocks are set: the remaining time is checked this often, however long it is. */
const LOOK_EVERY_MS = 1000;

/**
 * Rule X6: the limits of a run and what it has spent. At a limit it drains the run, as a first Ctrl-C does. It pauses
 * a task whose items fail in a row at the same failure point.
 */
export class Budget implements Disposable {
  readonly #ports: Ports;
  /** When the run started, by the wall clock and in active time. */
  readonly #startedAt: number;
  readonly #startedElapsed: number;
  #earlierMs: number;
  readonly #spentUp = new AbortController();
  /** Paused tasks, and why. */
  readonly #paused = new Map<string, string>();
  readonly #expected = new ExpectedCosts();
  #shift: Shift;
  #rows = 0;
  #inForce: Limits;
  #nextLook: AbortController | undefined;
  #hasWarned = false;
  #hasWarnedOfSilence = false;
  #hasToldReserve = false;
  #reached: ReachedLimit | undefined;

  constructor(ports: Ports, shift: Shift) {
    this.#ports = ports;
    this.#startedAt = ports.clock.now();
    this.#startedElapsed = ports.clock.elapsed();
    this.#earlierMs = ports.events.history.tally.ms;
    this.#shift = shift;
    this.#inForce = this.#resolve();
    if (moneyLimits(this.#inForce).length > 0) {
      for (const { task, usage, ms } of ports.events.history.ended()) this.#expected.addItem(task, costIn(usage), ms);
    }
    ports.events.listen((event) => {
      this.#expected.add(event);
      const { type, task } = event;
      if (type === 'dev:finished') this.#warnOfSilence(event);
      // From a command beside this run.
      if (type === 'usage:spent') this.#earlierMs += event.ms ?? 0;
      if (type !== 'usage:spent' && type !== 'item:recorded') return;
      if (type === 'item:recorded' && task !== undefined) this.#pause(task);
      this.check();
    });
  }

  get inForce(): Limits {
    return this.#inForce;
  }

  /** Whether a limit covers what earlier runs spent. */
  get countsEarlierRuns(): boolean {
    return (['max-cost', 'max-tokens', 'max-duration'] as const).some((key) => this.#inForce[key] !== undefined);
  }

  get spent(): Expenses {
    return this.#spentIn(0);
  }

  get hasModel(): boolean {
    return this.#shift.tasks.some((task) => hasModel(task, this.#ports.findAgent));
  }

  /** Which limit was reached, and how much has been spent. */
  get reason(): string | undefined {
    return this.#reached && (this.#usedUpIn(0) ?? this.#reached).text;
  }

  /** Aborts when cost or tokens are used up: no agent gets another prompt. Its reason names the limit. */
  get spentUp(): AbortSignal {
    return this.#spentUp.signal;
  }

  /** Why some tasks are paused, if any are; a limit that was reached meanwhile comes first. */
  get pauses(): string | undefined {
    if (this.#paused.size === 0) return undefined;
    const pauses = [...this.#paused.values()].join('; ');
    return this.reason === undefined ? pauses : `${this.reason}; ${pauses}`;
  }

  /** The scope without paused tasks. */
  narrow(scope: Scope): Scope {
    return this.#paused.size === 0 ? scope : { ...scope, paused: new Set(this.#paused.keys()) };
  }

  /**
   * How many of these new items may start, so that all that run together stay within cost and tokens: each reserves
   * what items of its task have cost so far. If nothing runs, one may start while anything is left.
   */
  affordable(task: string, items: number): number {
    const { running, events, clock } = this.#ports;
    const runningItems = { items: running.entries, now: clock.now() };
    const room = this.#expected.affordable(task, this.#inForce, costIn(events.history.usage), runningItems);
    const start = Math.min(items, Math.max(room, running.size === 0 ? 1 : 0));
    if (start < items) this.#tellReserve(task);
    return start;
  }

  /** How many rows the table has. */
  countRows(rows: number): void {
    this.#rows = rows;
    this.#inForce = this.#resolve();
  }

  /** You may have changed the limits; what was spent stays spent. */
  follow(shift: Shift): void {
    this.#shift = shift;
    this.#inForce = this.#resolve();
    this.check();
  }

  /** The same for the limits alone, while items run. */
  followLimits(limits: LimitSettings): void {
    if (JSON.stringify(limits) === JSON.stringify(this.#shift.settings.limits)) return;
    this.follow({ ...this.#shift, settings: { ...this.#shift.settings, limits } });
  }

  check(): void {
    this.#nextLook?.abort();
    const spentUp = moneyUsedUp(this.#inForce, this.spent);
    if (spentUp !== undefined) this.#spentUp.abort(spentUp);
    if (this.#ports.control.drain.aborted) return;
    this.#warnOfUnknownCost();
    const reached = this.#usedUpIn(0);
    if (!reached) {
      this.#lookLater();
      return;
    }
    this.#reached = reached;
    this.#ports.control.startDraining({ signal: 'limit', reason: reached.text });
  }

  /** Which limit would be reached by the end of a wait. */
  before(end: number): string | undefined {
    const now = this.#ports.clock.now();
    const isInTime = end < timeIsOver(this.#inForce, this.spent, now);
    const limit = isInTime ? undefined : this.#usedUpIn(end - now);
    return limit && `it ends at ${localTime(end)}, and by then ${limit.text}`;
  }

  #resolve(): Limits {
    return limitsInForce(this.#shift.settings.limits, this.hasModel, this.#startedAt, this.#rows);
  }

  /** In this many milliseconds, if the machine does not sleep. */
  #usedUpIn(milliseconds: number): ReachedLimit | undefined {
    return usedUp(this.#inForce, this.#spentIn(milliseconds), this.#ports.clock.now() + milliseconds);
  }

  #spentIn(milliseconds: number): Expenses {
    const { usage, tally } = this.#ports.events.history;
    const elapsed = this.#ports.clock.elapsed() - this.#startedElapsed;
    return { usage, ms: Math.round(this.#earlierMs + elapsed + milliseconds), failures: tally.failures };
  }

  #taskHasModel(name: string): boolean {
    const task = this.#shift.tasks.find((each) => each.name === name);
    return task !== undefined && hasModel(task, this.#ports.findAgent);
  }

  #lookLater(): void {
    const now = this.#ports.clock.now();
    const left = timeIsOver(this.#inForce, this.spent, now) - now;
    if (left === Number.POSITIVE_INFINITY) return;
    this.#nextLook = new AbortController();
    const wait = this.#ports.clock.sleep(Math.min(left, LOOK_EVERY_MS), this.#nextLook.signal);
    void wait.then((isOver) => isOver && this.check());
  }

  #warnOfUnknownCost(): void {
    const { unpricedTokens = 0, unreadCosts = 0 } = this.#ports.events.history.usage;
    const isUnknown = unpricedTokens > 0 || unreadCosts > 0;
    if (this.#hasWarned || this.#inForce['max-cost'] === undefined || !isUnknown) return;
    this.#hasWarned = true;
    const what =
      unpricedTokens > 0
        ? `${unpricedTokens} tokens came without a cost`
        : 'an agent reported a cost that is not an amount of US dollars';
    const message = `${what}, so max-cost does not see it; max-tokens and max-duration still hold`;
    this.#ports.events.emit({ type: 'run:warning', message });
  }

  /** Warns about an agent that does not report what it spends: the limit can't count it. */
  #warnOfSilence({ task = '', status, usage = {} }: Extract<NightshiftEvent, { type: 'dev:finished' }>): void {
    const keys = moneyLimits(this.#inForce);
    if (this.#hasWarnedOfSilence || keys.length === 0 || status !== 'SUCCESS' || Object.keys(usage).length > 0) return;
    const agent = this.#shift.tasks.find(({ name }) => name === task)?.settings.agent;
    // Scripts spend nothing.
    if (agent === undefined || this.#ports.findAgent(agent)?.runsSteps) return;
    this.#hasWarnedOfSilence = true;
    const what = `${task}: agent ${agent} did not report what it spent, so ${keys.join(' and ')} can't count it`;
    this.#ports.events.emit({ type: 'run:warning', message: `${what}; max-duration still holds` });
  }

  #tellReserve(task: string): void {
    if (this.#hasToldReserve) return;
    this.#hasToldReserve = true;
    const limits = moneyLimits(this.#inForce).join(' or ');
    const why = `going by what items of ${task} have cost, the running ones will use up ${limits}`;
    this.#ports.events.emit({ type: 'run:warning', message: `fewer items start now: ${why}` });
  }

  #pause(task: string): void {
    const most = sameFailures(this.#shift.settings.limits, this.#taskHasModel(task), this.#rows);
    const streak = this.#ports.events.history.tally.streakOf(task);
    if (most === undefined || !streak || streak.failures < most || this.#paused.has(task)) return;
    const { failurePoint, failures } = streak;
    const found = `${failures} in a row failed at the same point (${failurePoint})`;
    this.#paused.set(task, `${task} was paused: ${found}`);
    this.#ports.events.emit({
      type: 'task:paused',
      task,
      failurePoint,
      failures,
      reason: `${found}; no more of its items start`,
    });
  }

  [Symbol.dispose](): void {
    this.#nextLook?.abort();
  }
}

/** Whether an agent with a model does the task or judges it. */
export function hasModel({ settings }: Task, find: FindTraits): boolean {
  return [settings.agent, settings.qaAgent].some((agent) => agent !== undefined && find(agent)?.hasModel === true);
}
