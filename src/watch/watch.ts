import type { Clock } from '../core/model/clock.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { Together } from '../core/schedule/together.ts';
import type { Change } from '../store/store.ts';

/** How often the watch reads the files while items run: the agent of a withdrawn item ends within this time. */
const EVERY_MS = 500;

/** An edit by others that was undone: its description and the name of the file. */
export interface Edit {
  readonly what: string;
  readonly file: string;
  /** The folder of the shift, if the edit could also be yours: then its author must be shown. */
  readonly folder?: string;
  /** The keys of items whose processes had the file open for writing. */
  readonly writers?: ReadonlySet<string>;
}

export interface WatchTarget {
  /** What others did to the table since the last check. */
  changes(): Promise<readonly Change[]>;
  /** Restores the documents in force. Returns what was undone. */
  putBack(): Promise<readonly Edit[]>;
  /** False if the shift was moved or removed. */
  isThere(): Promise<boolean>;
  /** The files can't be read any more: no result could be recorded. */
  onFailure(error: unknown): void;
}

interface Suspicion {
  readonly edit: Edit;
  readonly suspects: ReadonlySet<string>;
}

/**
 * Watches the shift's files while items run (rules T4, D5). Stops withdrawn items, has edits undone that only
 * Nightshift may make, and knows their author if only one item could have made them.
 */
export class Watch {
  readonly #clock: Pick<Clock, 'sleep'>;
  #watched: WatchTarget | undefined;
  readonly #running = new Map<string, AbortController>();
  /** The keys of their items, by token. */
  readonly #keys = new Map<string, string>();
  /** All items that ran since the last check. */
  #suspects = new Set<string>();
  readonly #looking = new Together(() => this.#lookNow());
  /** Undone edits, and the items that may have made them. */
  #edits: Suspicion[] = [];
  /** Tokens of items that were withdrawn while they waited for their qa, and why. */
  readonly #withdrawn = new Map<string, string>();

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  /** Looks on and on until it is disposed: then a last time, since what was changed by then is no person's edit. */
  open(watched: WatchTarget): AsyncDisposable {
    this.#watched = watched;
    this.#suspects.clear();
    this.#edits = [];
    this.#withdrawn.clear();
    const closed = new AbortController();
    void this.#lookOnAndOn(watched, closed.signal);
    return {
      [Symbol.asyncDispose]: async () => {
        closed.abort();
        await this.look().catch(watched.onFailure);
        this.#watched = undefined;
      },
    };
  }

  /** Starts watching a token, for the item with this key. The signal aborts when the item is withdrawn. */
  enter(token: string, key: string): AbortSignal {
    const controller = new AbortController();
    const withdrawn = this.#withdrawn.get(token);
    if (withdrawn !== undefined) controller.abort(new Error(withdrawn));
    this.#running.set(token, controller);
    this.#keys.set(token, key);
    this.#suspects.add(token);
    return controller.signal;
  }

  leave(token: string): void {
    this.#running.delete(token);
    this.#keys.delete(token);
  }

  async #lookOnAndOn({ onFailure }: WatchTarget, closed: AbortSignal): Promise<void> {
    while (await this.#clock.sleep(EVERY_MS, closed)) void this.look().catch(onFailure);
  }

  /** Checks now, one check at a time. Callers that come during a check share the next. */
  look(): Promise<void> {
    return this.#looking.done();
  }

  /**
   * Why the attempt of this token fails: its own edit, if that is proven. One of its tool calls names the file, one
   * of its processes had it open for writing, or, if you would not have made the edit, no other item ran. Reported
   * once.
   */
  async trespassOf(token: string, calls: readonly string[]): Promise<string | undefined> {
    await this.look();
    const key = this.#keys.get(token);
    const isOwn = ({ edit, suspects }: Suspicion) =>
      suspects.has(token) &&
      ((suspects.size === 1 && edit.folder === undefined) ||
        (key !== undefined && edit.writers?.has(key) === true) ||
        calls.some((call) => isNamedIn(call, edit)));
    const own = this.#edits.filter(isOwn).map(({ edit }) => edit.what);
    this.#edits = this.#edits.filter((each) => !isOwn(each));
    return own.length === 0 ? undefined : `it edited what only Nightshift writes (${own.slice(0, 3).join('; ')})`;
  }

  /** Before the next attempt of a running item: throws if its shift was moved or removed (rule M6). */
  async confirm(): Promise<void> {
    if (this.#watched && !(await this.#watched.isThere())) {
      throw new NightshiftError('not-found', 'the shift was moved or removed while an item was running');
    }
  }

  async #lookNow(): Promise<void> {
    const watched = this.#watched;
    if (!watched) return;
    const suspects = this.#suspects;
    this.#suspects = new Set(this.#running.keys());
    const edits: Edit[] = [];
    for (const change of await watched.changes()) {
      if (change.kind === 'withdrawn') this.#withdraw(change.token, change.reason);
      else edits.push({ what: change.what, file: 'table.csv' });
    }
    edits.push(...(await watched.putBack()));
    this.#edits = this.#edits.filter((each) => [...each.suspects].some((token) => this.#running.has(token)));
    if (suspects.size > 0) this.#edits.push(...edits.map((edit) => ({ edit, suspects })));
  }

  #withdraw(token: string, reason: string): void {
    this.#withdrawn.set(token, reason);
    this.#running.get(token)?.abort(new Error(reason));
  }
}

/** Agents may have files of the same name: for a document, the folder must be named as well. */
function isNamedIn(call: string, { file, folder }: Edit): boolean {
  const isThere =
    folder === undefined || call.includes(`.nightshift/${folder}`) || call.includes('NIGHTSHIFT_SHIFT_DIR');
  return isThere && call.includes(file);
}
