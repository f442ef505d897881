import type { NightshiftEvent } from './events.ts';
import type { Limits } from './limits.ts';

/** Items of one task that have failed one after the other at the same place. */
export interface Streak {
  readonly place: string;
  readonly failures: number;
}

/** What limits count besides usage (rule X6): the time of all runs of a shift, and the failures of the latest run. */
export class Tally {
  failures = 0;
  /** Of the latest run. */
  limits: Limits | undefined;
  readonly #streaks = new Map<string, Streak>();
  /** Where items failed that are not recorded yet. */
  readonly #places = new Map<string, string>();
  #run = '';
  #startedAt = '';
  #lastAt = '';
  #earlierMs = 0;
  #toldMs = 0;

  /** As long as each run says that it took; of one that was killed, from its start to its last event. */
  get ms(): number {
    return this.#earlierMs + Math.max(this.#toldMs, between(this.#startedAt, this.#lastAt));
  }

  streakOf(task: string): Streak | undefined {
    return this.#streaks.get(task);
  }

  add(event: NightshiftEvent): void {
    if (event.type === 'run:started') this.#start(event);
    // What is done by hand between two runs, or beside one, is none of theirs.
    if (event.run !== this.#run) return;
    this.#lastAt = event.at;
    if (event.type === 'run:finished') this.#toldMs = event.ms || 0;
    const { task = '', item = '' } = event;
    const name = `${task} ${item}`;
    if ((event.type === 'dev:finished' || event.type === 'qa:finished') && event.place !== undefined) {
      this.#places.set(name, event.place);
    }
    // Its verdict may be told before its `qa` is recorded.
    if (event.type !== 'item:recorded' || event.to === 'qa') return;
    if (event.to === 'failed') this.#failed(task, this.#places.get(name) ?? '');
    if (event.to === 'done') this.#streaks.delete(task);
    this.#places.delete(name);
  }

  #start({ run, at, limits }: Extract<NightshiftEvent, { type: 'run:started' }>): void {
    this.#earlierMs = this.ms;
    this.#toldMs = 0;
    this.#run = run;
    this.#startedAt = at;
    this.failures = 0;
    this.limits = limits;
    this.#streaks.clear();
    this.#places.clear();
  }

  #failed(task: string, place: string): void {
    this.failures++;
    const before = this.#streaks.get(task);
    this.#streaks.set(task, { place, failures: before?.place === place ? before.failures + 1 : 1 });
  }
}

/** The journal may hold a time that is none, and clocks are set back. */
function between(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from) || 0);
}
