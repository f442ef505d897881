import type { NightshiftEvent } from '../model/events.ts';
import type { Limits } from './budget.ts';

/** Items of one task that failed in a row at the same failure point. */
export interface Streak {
  readonly failurePoint: string;
  readonly failures: number;
}

/** A tally as plain JSON. */
export interface TallyState {
  readonly failures: number;
  readonly limits?: Limits;
  readonly streaks: readonly (readonly [task: string, streak: Streak])[];
  readonly failurePoints: readonly (readonly [name: string, failurePoint: string])[];
  readonly run: string;
  readonly startedAt: string;
  readonly lastAt: string;
  readonly earlierMs: number;
  readonly toldMs?: number;
}

/** What limits count besides usage (rule X6): the time of all runs of a shift, and the failures of the latest run. */
export class Tally {
  failures = 0;
  /** Failures of the latest run. */
  limits: Limits | undefined;
  readonly #streaks = new Map<string, Streak>();
  /** The failure points of items that are not recorded yet. */
  readonly #failurePoints = new Map<string, string>();
  #run = '';
  #startedAt = '';
  #lastAt = '';
  #earlierMs = 0;
  #toldMs: number | undefined;

  /** The duration that each run reports; of a killed run, from its start to its last event. */
  get ms(): number {
    return this.#earlierMs + (this.#toldMs ?? between(this.#startedAt, this.#lastAt));
  }

  /** The whole tally, to restore it later. */
  state(): TallyState {
    return {
      failures: this.failures,
      ...(this.limits === undefined ? {} : { limits: this.limits }),
      streaks: [...this.#streaks],
      failurePoints: [...this.#failurePoints],
      run: this.#run,
      startedAt: this.#startedAt,
      lastAt: this.#lastAt,
      earlierMs: this.#earlierMs,
      ...(this.#toldMs === undefined ? {} : { toldMs: this.#toldMs }),
    };
  }

  restore(state: TallyState): void {
    this.failures = state.failures;
    this.limits = state.limits;
    this.#run = state.run;
    this.#startedAt = state.startedAt;
    this.#lastAt = state.lastAt;
    this.#earlierMs = state.earlierMs;
    this.#toldMs = state.toldMs;
    this.#streaks.clear();
    this.#failurePoints.clear();
    for (const [task, streak] of state.streaks) this.#streaks.set(task, streak);
    for (const [name, failurePoint] of state.failurePoints) this.#failurePoints.set(name, failurePoint);
  }

  /** Another record knows of more time than the journal. */
  atLeast(ms: number): void {
    this.#earlierMs += Math.max(0, ms - this.ms);
  }

  streakOf(task: string): Streak | undefined {
    return this.#streaks.get(task);
  }

  add(event: NightshiftEvent): void {
    if (event.type === 'run:started') this.#start(event);
    if (event.type === 'usage:spent') this.#earlierMs += amount(event.ms) ?? 0;
    // Edits by hand, between two runs or beside one, do not count for a run.
    if (event.run !== this.#run) return;
    this.#lastAt = event.at;
    this.#toldMs = amount(event.type === 'run:finished' ? event.ms : event.elapsed) ?? this.#toldMs;
    const { task = '', item = '' } = event;
    const name = `${task} ${item}`;
    if (hasFailurePoint(event) && event.failurePoint !== undefined) {
      this.#failurePoints.set(name, event.failurePoint);
    }
    // The verdict may come before `qa` is recorded.
    if (event.type !== 'item:recorded' || event.to === 'qa') return;
    if (event.to === 'failed') this.#failed(task, this.#failurePoints.get(name) ?? '');
    if (event.to === 'done') this.#streaks.delete(task);
    this.#failurePoints.delete(name);
  }

  #start({ run, at, limits }: Extract<NightshiftEvent, { type: 'run:started' }>): void {
    this.#earlierMs = this.ms;
    this.#toldMs = undefined;
    this.#run = run;
    this.#startedAt = at;
    this.failures = 0;
    this.limits = limits;
    this.#streaks.clear();
    this.#failurePoints.clear();
  }

  #failed(task: string, failurePoint: string): void {
    this.failures++;
    const before = this.#streaks.get(task);
    this.#streaks.set(task, {
      failurePoint,
      failures: before?.failurePoint === failurePoint ? before.failures + 1 : 1,
    });
  }
}

/** The journal may contain anything. */
function amount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : undefined;
}

/** The journal may contain an invalid time, and clocks are set back. */
function between(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from) || 0);
}

function hasFailurePoint(
  event: NightshiftEvent,
): event is Extract<NightshiftEvent, { type: 'dev:finished' | 'qa:finished' | 'delivery:finished' }> {
  return event.type === 'dev:finished' || event.type === 'qa:finished' || event.type === 'delivery:finished';
}
