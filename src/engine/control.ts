import type { ControlState } from '../core/model/control.ts';
import type { Stop } from './ports.ts';

/** Who asked: a signal, `limit` with the reason, or `control` with the id of the request in the control file. */
export interface Origin {
  readonly signal: string;
  readonly request?: string;
  readonly reason?: string;
}

export interface Pause {
  /** ISO 8601. */
  readonly since: string;
  /** Running items are given back. */
  readonly now: boolean;
}

/** A change of the control; the run adds how many items are running. */
export type ControlChange =
  | ({ readonly type: 'run:draining'; readonly isLeaving?: true } & Origin)
  | ({ readonly type: 'run:stopping' | 'run:resumed' } & Origin)
  | ({ readonly type: 'run:paused' } & Pause & Origin);

type Listener = (change: ControlChange) => void;

/**
 * The one place that receives requests to drain, stop, pause or resume a run: by signals, the control file, a limit,
 * or a caller. Draining and stopping are final. Each change is reported once, also to a listener that is added later.
 */
export class RunControl implements Stop {
  readonly #drain = new AbortController();
  readonly #now = new AbortController();
  readonly #left = new AbortController();
  #interrupt = new AbortController();
  #pause: Pause | undefined;
  readonly #told: ControlChange[] = [];
  readonly #listeners: Listener[] = [];
  /** Callers that wait for a resume or the end. */
  #waiting: (() => void)[] = [];

  /** Nothing new starts, running items finish, and the run ends. */
  get drain(): AbortSignal {
    return this.#drain.signal;
  }

  /** Running items are ended and given back, and the run ends. */
  get now(): AbortSignal {
    return this.#now.signal;
  }

  /** The run ends at once; in a fleet, running items stay with their workers. Aborts before `drain` does. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** Nobody waits for agents any more. */
  get isEnding(): boolean {
    return this.interrupt.aborted || this.left.aborted;
  }

  /** Ends running items, because of a stop or a `pause --now`. After such a pause it is a new signal. */
  get interrupt(): AbortSignal {
    return this.#interrupt.signal;
  }

  /** Nothing new starts until the run is resumed. Undefined: the run is not paused. */
  get pause(): Pause | undefined {
    return this.#pause;
  }

  /** Whether nothing new may start. */
  get isHalted(): boolean {
    return this.drain.aborted || this.#pause !== undefined;
  }

  get state(): Pick<ControlState, 'draining' | 'stopping' | 'leaving' | 'pause'> {
    return {
      draining: this.drain.aborted,
      stopping: this.now.aborted,
      leaving: this.left.aborted,
      ...(this.#pause ? { pause: this.#pause } : {}),
    };
  }

  /** Also reports changes made before the call. */
  follow(listener: Listener): void {
    for (const change of this.#told) listener(change);
    this.#listeners.push(listener);
  }

  startDraining(by: Origin): void {
    if (this.drain.aborted) return;
    this.#drain.abort();
    this.#tell({ type: 'run:draining', ...by });
    this.#wake();
  }

  stopNow(by: Origin): void {
    if (this.now.aborted) return;
    // Reported before running items are ended.
    this.#tell({ type: 'run:stopping', ...by });
    this.#drain.abort();
    this.#now.abort();
    this.#interrupt.abort();
    this.#wake();
  }

  /** May follow a drain, if its items take too long. */
  leave(by: Origin): void {
    if (this.left.aborted || this.now.aborted) return;
    this.#tell({ type: 'run:draining', isLeaving: true, ...by });
    this.#left.abort();
    this.#drain.abort();
    this.#wake();
  }

  /** A pause may turn into a `pause --now`. */
  startPause(pause: Pause, by: Origin): void {
    if (this.#pause && (this.#pause.now || !pause.now)) return;
    this.#pause = pause;
    this.#tell({ type: 'run:paused', ...pause, ...by });
    if (pause.now) this.#interrupt.abort();
  }

  resume(by: Origin): void {
    if (!this.#pause) return;
    this.#pause = undefined;
    // Items that keep running during the pause keep their signal.
    if (this.#interrupt.signal.aborted && !this.now.aborted) this.#interrupt = new AbortController();
    this.#tell({ type: 'run:resumed', ...by });
    this.#wake();
  }

  /** Resolves when the run is not paused, or has to end. */
  async resumed(): Promise<void> {
    while (this.#pause && !this.drain.aborted) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #tell(change: ControlChange): void {
    this.#told.push(change);
    for (const listener of this.#listeners) listener(change);
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
