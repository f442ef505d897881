import { existsSync, realpathSync } from 'node:fs';
import { relative } from 'node:path';
import {
  type FoundRecord,
  namesFile,
  type Observed,
  type ProtectedItem,
  type ProtectedPlace,
  type Protection,
  type ProtectionRecord,
  type SavedFile,
} from '../core/model/protection.ts';
import { Together } from '../core/schedule/together.ts';
import { Baseline, contentIn } from './baseline.ts';
import { changedAt, isSameState, readState } from './file-state.ts';
import type { ListingScope } from './protected-listing.ts';
import { PutBack } from './put-back.ts';
import { isWithin } from './survey.ts';

/** How often the files are checked while items run; less often if a check takes long. */
const EVERY_MS = 1000;
const SHARE_OF_TIME = 20;
/** Agents of a killed run end a moment later. */
const GRACE_MS = 3000;
/** At most this many are reported one by one at each check: an agent may have removed thousands. */
const MOST_TOLD = 20;

/** A protected file that was put back. */
export interface PutBackFile {
  readonly path: string;
  /** Where the other version is, if it is kept. */
  readonly kept?: string;
  readonly running: readonly ProtectedItem[];
  /** The change was found at this start: a killed run left it. */
  readonly isLeft: boolean;
}

export interface ProtectedSurroundings extends Omit<ListingScope, 'signal'> {
  /** The shift's folder. If it is gone, the project was moved or removed, and nothing is put back. */
  readonly shiftFolder: string;
  /** Where other versions are kept. */
  readonly kept: string;
  /** Other machines restore the same files. */
  readonly isShared: boolean;
  createRecord(): Promise<ProtectionRecord>;
  findRecord(): Promise<FoundRecord | undefined>;
  ownOutput(): ReadonlySet<string>;
  /** For files open for writing, the keys of the items whose processes have them open. */
  writers(): ReadonlyMap<string, ReadonlySet<string>>;
  report(file: PutBackFile): void;
  warn(message: string): void;
}

interface Edit {
  readonly path: string;
  readonly suspects: ReadonlyMap<string, ProtectedItem>;
  readonly writers: ReadonlySet<string>;
}

const NEVER = new AbortController().signal;

/** Enforces `protect:` (rule D5): the files stay as they were at the start of the run, or are put back. */
export class ProtectedFiles implements Protection {
  readonly #around: ProtectedSurroundings;
  readonly #putBack: PutBack;
  readonly #places = new Set<string>();
  readonly #running = new Map<string, ProtectedItem>();
  /** All items that ran since the last check. */
  #suspects = new Map<string, ProtectedItem>();
  #edits: Edit[] = [];
  /** The number of the check that last found each file changed. */
  readonly #changes = new Map<string, { look: number; isSame: boolean }>();
  #looks = 0;
  #finished = 0;
  readonly #looking = new Together(() => this.#lookNow());
  #record: ProtectionRecord | undefined;
  #baseline: Baseline | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #warned = new Set<string>();

  constructor(around: ProtectedSurroundings) {
    this.#around = around;
    this.#putBack = new PutBack(around.kept);
  }

  async begin(places: readonly ProtectedPlace[]): Promise<void> {
    await this.#recover(places);
    for (const place of places) await this.hold(place);
  }

  /** Continues for a process that is gone, with what it recorded. */
  async resume(): Promise<void> {
    const found = await this.#around.findRecord();
    if (!found) return;
    const none = () => Promise.reject(new Error('nothing is added to what another process remembers'));
    this.#record = { ...found, save: none, commit: none };
    this.#baseline = this.#newBaseline(this.#record);
    this.#baseline.remember(found.files);
    this.#record.signOfLife();
  }

  async hold({ folder, globs }: ProtectedPlace): Promise<void> {
    if (globs.length === 0) return;
    const key = JSON.stringify([folder, ...globs]);
    if (this.#places.has(key) || !existsSync(folder)) return;
    this.#places.add(key);
    this.#record ??= await this.#around.createRecord();
    this.#baseline ??= this.#newBaseline(this.#record);
    await this.#baseline.add({ folder: realpathSync.native(folder), globs });
  }

  #newBaseline(record: ProtectionRecord): Baseline {
    const { root, leftOut, git, ownOutput } = this.#around;
    const warn = (message: string) => this.#warnOnce(message);
    return new Baseline({ scope: { root, leftOut, git, signal: NEVER }, record, ownOutput, warn });
  }

  enter(item: ProtectedItem): Disposable {
    this.#running.set(item.token, item);
    this.#suspects.set(item.token, item);
    if (this.#baseline && !this.#timer) this.#lookLater(EVERY_MS);
    return { [Symbol.dispose]: () => void this.#running.delete(item.token) };
  }

  #lookLater(milliseconds: number): void {
    this.#timer = setTimeout(async () => {
      const started = performance.now();
      this.#record?.signOfLife();
      await this.#looking.done().catch((error: Error) => this.#warnOnce(error.message));
      this.#timer = undefined;
      if (this.#running.size > 0) this.#lookLater(Math.max(EVERY_MS, (performance.now() - started) * SHARE_OF_TIME));
    }, milliseconds);
  }

  async trespassOf(token: string, calls: readonly string[]): Promise<string | undefined> {
    if (!this.#baseline) return undefined;
    await this.#looking.done();
    const isOwn = ({ path, suspects, writers }: Edit) => {
      const item = suspects.get(token);
      if (!item) return false;
      return writers.has(item.key) || calls.some((call) => namesFile(call, this.#around.root, path));
    };
    const own = this.#edits.filter(isOwn).map(({ path }) => relative(this.#around.root, path));
    this.#edits = this.#edits.filter((edit) => !isOwn(edit));
    return own.length === 0 ? undefined : `it changed a protected file (${[...new Set(own)].slice(0, 3).join(', ')})`;
  }

  async observe<T>(run: () => Promise<T>): Promise<Observed<T>> {
    if (!this.#baseline) return { result: await run(), changed: [], isSame: true };
    await this.#looking.done();
    const before = this.#finished;
    const result = await run();
    await this.#looking.done();
    // Only the run itself could have put the other content there and removed it.
    const isAlone = !this.#around.isShared && this.#running.size <= 1;
    const counts = ({ look, isSame }: { look: number; isSame: boolean }) => look > before && !(isSame && isAlone);
    const found = [...this.#changes].filter(([, change]) => counts(change));
    const changed = found.map(([path]) => relative(this.#around.root, path));
    return { result, changed, isSame: found.every(([, { isSame }]) => isSame) };
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer);
    const record = this.#record;
    if (this.#baseline) await this.#looking.done().catch((error: Error) => this.#warnOnce(error.message));
    await this.leave();
    await record?.remove();
  }

  /** Keeps the record for the next process. */
  async leave(): Promise<void> {
    clearTimeout(this.#timer);
    this.#baseline = undefined;
    await this.#record?.close();
    this.#record = undefined;
  }

  async #lookNow(): Promise<void> {
    const { shiftFolder } = this.#around;
    const suspects = this.#suspects;
    this.#suspects = new Map(this.#running);
    const look = ++this.#looks;
    this.#edits = this.#edits.filter(({ suspects }) => [...suspects.keys()].some((token) => this.#running.has(token)));
    if (!this.#baseline || !existsSync(shiftFolder)) return;
    let told = 0;
    let writers: ReturnType<ProtectedSurroundings['writers']> | undefined;
    for await (const { saved, isSame } of this.#baseline.differences()) {
      this.#changes.set(saved.path, { look, isSame });
      if (isSame) continue;
      writers ??= this.#around.writers();
      const kept = await this.#restore(saved);
      if (kept === false) continue;
      this.#edits.push({ path: saved.path, suspects, writers: writers.get(saved.path) ?? new Set() });
      if (++told <= MOST_TOLD) this.#report(saved.path, kept, [...suspects.values()]);
    }
    this.#finished = look;
    if (told > MOST_TOLD) this.#around.warn(`${told - MOST_TOLD} more protected files were restored`);
  }

  /** False if it can't be put back, which is reported. */
  async #restore(saved: SavedFile): Promise<string | undefined | false> {
    try {
      const kept = await this.#putBack.restore(saved, async () => this.#baseline?.content(saved));
      this.#baseline?.settled(saved);
      return kept;
    } catch (error) {
      this.#warnOnce(`the protected file ${saved.path} can't be restored: ${(error as Error).message}`);
      return false;
    }
  }

  /** A change before the last sign of life of the killed run was made while items ran; a later one is yours. */
  async #recover(places: readonly ProtectedPlace[]): Promise<void> {
    const found = await this.#around.findRecord();
    if (!found) return;
    // An agent may have written the record itself: nothing is put back where no item is done.
    const { root, leftOut } = this.#around;
    const folders = [root, ...places.map(({ folder }) => folder)];
    const isOurs = ({ path }: SavedFile) => folders.some((each) => isWithin(path, each)) && !isWithin(path, leftOut);
    for (const saved of found.files.filter(isOurs).sort((a, b) => (a.path < b.path ? -1 : 1))) {
      const now = readState(saved.path).state;
      if (isSameState(saved.state, now) || changedAt(saved.path) > found.lastSign + GRACE_MS) continue;
      try {
        const kept = await this.#putBack.restore(saved, () => contentIn(found, saved));
        this.#report(saved.path, kept, [], true);
      } catch (error) {
        this.#warnOnce(`the protected file ${saved.path} can't be restored: ${(error as Error).message}`);
      }
    }
    await found.remove();
  }

  #report(path: string, kept: string | undefined, running: readonly ProtectedItem[], isLeft = false): void {
    this.#around.report({ path, ...(kept === undefined ? {} : { kept }), running, isLeft });
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#around.warn(message);
  }
}
