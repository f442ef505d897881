import type { Change } from '../store/store.ts';

/** How often the files are looked at while somebody works; a withdrawn item's agent is stopped within this time. */
const EVERY_MS = 500;

export interface Watched {
  /** What others did to the table since the last look. */
  changes(): Promise<readonly Change[]>;
  /** Puts protected text of the task files in flight back; what was put back, in words. */
  putBack(): Promise<readonly string[]>;
  /** The files can't be read any more: nothing that is in flight could be recorded. */
  onFailure(error: unknown): void;
}

/**
 * Looks at the shift's files while items are in flight (rules T4, D5): stops what was withdrawn, has put back what only
 * Nightshift may write, and knows whose edit it was when only one could have made it.
 */
export class Watch implements AsyncDisposable {
  readonly #watched: Watched;
  readonly #inFlight = new Map<string, AbortController>();
  /** Everybody who was in flight at some time since the last look. */
  #suspects = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  readonly #blame = new Map<string, string>();
  /** Tokens of items that were withdrawn while they waited for their qa, and why. */
  readonly #withdrawn = new Map<string, string>();

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#timer = setInterval(() => void this.look().catch(this.#watched.onFailure), EVERY_MS);
  }

  /** From now on this token is in flight; the signal aborts when its item is withdrawn. */
  enter(token: string): AbortSignal {
    const controller = new AbortController();
    const withdrawn = this.#withdrawn.get(token);
    if (withdrawn !== undefined) controller.abort(new Error(withdrawn));
    this.#inFlight.set(token, controller);
    this.#suspects.add(token);
    return controller.signal;
  }

  leave(token: string): void {
    this.#inFlight.delete(token);
  }

  /** Looks now, one look at a time. */
  look(): Promise<void> {
    const look = this.#looking.then(() => this.#lookNow());
    this.#looking = look.catch(() => {});
    return look;
  }

  /** Why this token's attempt fails: what it changed, if it was shown to be its own edit. Told once. */
  async trespassOf(token: string): Promise<string | undefined> {
    await this.look();
    const what = this.#blame.get(token);
    this.#blame.delete(token);
    return what;
  }

  async #lookNow(): Promise<void> {
    const suspects = this.#suspects;
    this.#suspects = new Set(this.#inFlight.keys());
    const edits: string[] = [];
    for (const change of await this.#watched.changes()) {
      if (change.kind === 'withdrawn') this.#withdraw(change.token, change.reason);
      else edits.push(change.what);
    }
    edits.push(...(await this.#watched.putBack()));
    if (edits.length > 0 && suspects.size === 1) {
      const [token] = suspects as Set<string>;
      this.#blame.set(token as string, `it edited what only Nightshift writes (${edits.slice(0, 3).join('; ')})`);
    }
  }

  #withdraw(token: string, reason: string): void {
    this.#withdrawn.set(token, reason);
    this.#inFlight.get(token)?.abort(new Error(reason));
  }

  /** Looks a last time: what the last of a batch changed must not pass for a person's edit in the next. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.look().catch(this.#watched.onFailure);
  }
}
