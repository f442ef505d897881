import type { NightshiftEvent, TranscriptEntry } from '../model/events.ts';
import { ATTEMPTS } from '../model/model.ts';
import { Doing } from './doing.ts';
import { type Pace, UsualPace } from './pace.ts';

/** A session of a dev or a qa that runs now, with its item-task. */
export interface RunningSession {
  readonly task: string;
  readonly index: number;
  readonly item: string;
  readonly label?: string | undefined;
  readonly key: string;
  readonly role: 'dev' | 'qa';
  readonly agent: string;
  /** Of a fleet. */
  readonly worker?: string | undefined;
  /** Milliseconds since 1970, as all times here. */
  readonly since: number;
  attempt: number;
  readonly maxAttempts: number;
  /** The last sign of life: a start, the end of an attempt, something said. */
  lastSign: number;
  /** Puts what its session says into words. */
  readonly words: Doing;
  /** What its agent does. */
  doing?: string;
}

/** The running sessions of a run, one for each item-task, and how long sessions usually take. */
export class Sessions {
  /** By the name of the item-task (`nameOf`). */
  readonly running = new Map<string, RunningSession>();
  readonly #pace = new UsualPace();
  readonly #root: string | undefined;

  /** `root`: where the shift is, to shorten paths. */
  constructor(root: string | undefined) {
    this.#root = root;
  }

  paceOf(session: RunningSession, now: number): Pace {
    return this.#pace.of(session, now);
  }

  begin(event: Extract<NightshiftEvent, { type: 'dev:started' | 'qa:started' }>, at: number): void {
    const { task = '', index = -1, item = '', label, agent, key = '', worker } = event;
    const role = event.type === 'dev:started' ? 'dev' : 'qa';
    const { maxAttempts = ATTEMPTS, attempt = 1 } = event.type === 'dev:started' ? event : {};
    const place = { worker: typeof worker === 'string' ? worker : undefined };
    const session = { key, role, agent, ...place, since: at, attempt, maxAttempts, lastSign: at } as const;
    this.running.set(nameOf(event), { task, index, item, label, ...session, words: new Doing(agent, this.#root) });
  }

  endAttempt(event: Extract<NightshiftEvent, { type: 'attempt:finished' }>, at: number): void {
    const one = this.running.get(nameOf(event));
    if (!one) return;
    const isGood = event.status === 'SUCCESS';
    this.#sign(one, at, isGood);
    one.attempt = Math.min(one.maxAttempts, (event.attempt ?? one.attempt) + (isGood ? 0 : 1));
  }

  end(event: Extract<NightshiftEvent, { type: 'dev:finished' | 'qa:finished' }>, at: number): void {
    const one = this.running.get(nameOf(event));
    if (one) this.#sign(one, at, event.status === 'SUCCESS' || event.status === 'PASS');
    this.running.delete(nameOf(event));
    this.#pace.took(event.ms);
  }

  /** Output of a session, which the journal does not have. */
  heard(task: string, item: string, at: number, entry?: TranscriptEntry): void {
    const one = this.running.get(nameOf({ task, item }));
    if (!one || at < one.lastSign) return;
    this.#sign(one, at, true);
    const doing = entry && one.words.of(entry);
    if (doing !== undefined) one.doing = doing;
  }

  /** The silence of successful agents tells how long silence is normal. */
  #sign(one: RunningSession, at: number, isGood: boolean): void {
    if (isGood) this.#pace.wasSilent(at - one.lastSign);
    one.lastSign = at;
  }
}

/** Names the item-task of an event. */
export function nameOf({ task = '', item = '' }: Pick<NightshiftEvent, 'task' | 'item'>): string {
  return `${task} ${item}`;
}
