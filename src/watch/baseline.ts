import { dirname } from 'node:path';
import type { FoundRecord, ProtectedPlace, ProtectionRecord, SavedFile } from '../core/model/protection.ts';
import { hashOf, isSameState, LARGEST_FILE, quickMark, readState } from './file-state.ts';
import { identityIn } from './inventory.ts';
import { findMatching, type ListingScope, listProtected } from './protected-listing.ts';
import { isWithin, SurveyFailure } from './survey.ts';

/** The limit for all protected files together. What exceeds it is not held. */
const MOST_BYTES = 512 * 1024 * 1024;
/** The content of small files is also in memory, where no agent can reach it. */
const MOST_IN_MEMORY = 8 * 1024 * 1024;

/** The event loop gets a turn after this many files. */
const AT_ONCE = 1000;

const SETTLE_MS = 20;
const SETTLE_TRIES = 5;

interface HeldFile extends SavedFile {
  mark: string;
}

/** A protected path that changed. `isSame`: it was written with the same content. */
export interface Difference {
  readonly saved: SavedFile;
  readonly isSame: boolean;
}

export interface BaselineSurroundings {
  readonly scope: ListingScope;
  readonly record: ProtectionRecord;
  /** `DEVICE:INODE` of the files that Nightshift's own output goes to. */
  ownOutput(): ReadonlySet<string>;
  warn(message: string): void;
}

/** Protected files in their first known state. */
export class Baseline {
  readonly #around: BaselineSurroundings;
  /** Folders before their content: missing files are restored in this order. */
  #held = new Map<string, HeldFile>();
  readonly #inMemory = new Map<string, Buffer>();
  /** Folders where new files count, too. */
  readonly #open: ProtectedPlace[] = [];
  #bytes = 0;
  #bytesInMemory = 0;

  constructor(around: BaselineSurroundings) {
    this.#around = around;
  }

  async add(place: ProtectedPlace): Promise<void> {
    const listing = await listProtected(this.#around.scope, place);
    if (listing instanceof SurveyFailure) {
      this.#around.warn(`\`protect\` does not hold for devs ${listing.where}`);
      return;
    }
    if (!listing.isTracked) this.#open.push(place);
    const own = this.#around.ownOutput();
    const added: HeldFile[] = [];
    for (const path of this.#withFolders(listing.files, place.folder)) {
      if (this.#held.has(path) || own.has(identityIn(quickMark(path)) ?? '')) continue;
      if (added.length % AT_ONCE === AT_ONCE - 1) await breathe();
      const held = await this.#take(path);
      if (held) added.push(held);
    }
    if (added.length === 0) return;
    await this.#around.record.commit(added.map(({ mark: _, ...saved }) => saved));
    const all = [...this.#held.values(), ...added].sort((a, b) => (a.path < b.path ? -1 : 1));
    this.#held = new Map(all.map((held) => [held.path, held]));
  }

  /** The state that an earlier process recorded. */
  remember(files: readonly SavedFile[]): void {
    const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
    this.#held = new Map(sorted.map((saved) => [saved.path, { ...saved, mark: '' }]));
  }

  /** The parent folders must stay folders: a link could take the place of one. */
  #withFolders(files: ReadonlySet<string>, folder: string): string[] {
    const { root } = this.#around.scope;
    const paths = new Set(files);
    for (const file of files) {
      const top = isWithin(file, root) ? root : folder;
      for (let at = dirname(file); at !== top && isWithin(at, top) && !paths.has(at); at = dirname(at)) paths.add(at);
    }
    return [...paths].sort();
  }

  async #take(path: string): Promise<HeldFile | undefined> {
    const mark = quickMark(path);
    const { state, content } = readState(path);
    if (state.kind === 'other') {
      this.#around.warn(`${path} is not protected: it can't be read, or is larger than ${LARGEST_FILE} bytes`);
      return undefined;
    }
    if (!content || state.kind !== 'file') return { path, state, mark };
    if (this.#bytes + content.length > MOST_BYTES) {
      this.#around.warn(`${path} is not protected: \`protect\` names more than ${MOST_BYTES} bytes`);
      return undefined;
    }
    this.#bytes += content.length;
    if (this.#bytesInMemory + content.length <= MOST_IN_MEMORY) {
      this.#bytesInMemory += content.length;
      this.#inMemory.set(state.hash, content);
    }
    return { path, state, mark, offset: await this.#around.record.save(content) };
  }

  /** What changed, folders first. Settle each before you ask for the next. */
  async *differences(): AsyncGenerator<Difference> {
    const isChanged = (held: HeldFile) => quickMark(held.path) !== held.mark;
    const changed: string[] = [];
    let looked = 0;
    for (const held of this.#held.values()) {
      if (++looked % AT_ONCE === 0) await breathe();
      if (isChanged(held)) changed.push(held.path);
    }
    if (changed.length > 0) {
      await settle(changed);
      // All of them: a link in the place of a folder may have hidden missing files.
      for (const held of this.#held.values()) {
        if (++looked % AT_ONCE === 0) await breathe();
        if (!isChanged(held)) continue;
        const mark = quickMark(held.path);
        const isSame = isSameState(held.state, readState(held.path).state);
        if (isSame) held.mark = mark;
        yield { saved: held, isSame };
      }
    }
    for (const path of await this.#added()) yield { saved: { path, state: { kind: 'none' } }, isSame: false };
  }

  /** New files that match, where git does not tell what belongs there. */
  async #added(): Promise<string[]> {
    const added: string[] = [];
    for (const place of this.#open) {
      const found = await findMatching(this.#around.scope, place);
      if (found instanceof SurveyFailure) continue;
      const fresh = [...found].filter((path) => !this.#held.has(path));
      const own = fresh.length === 0 ? new Set<string>() : this.#around.ownOutput();
      added.push(...fresh.filter((path) => !own.has(identityIn(quickMark(path)) ?? '')));
    }
    return [...new Set(added)];
  }

  /** It was put back: this is its state now. */
  settled({ path }: SavedFile): void {
    const held = this.#held.get(path);
    if (held) held.mark = quickMark(path);
  }

  content(saved: SavedFile): Promise<Buffer | undefined> {
    const inMemory = saved.state.kind === 'file' ? this.#inMemory.get(saved.state.hash) : undefined;
    return inMemory ? Promise.resolve(inMemory) : contentIn(this.#around.record, saved);
  }
}

/** A program that saves a file empties it first. If it is quick, its whole new content is kept. */
async function settle(paths: readonly string[]): Promise<void> {
  const look = () => paths.map(quickMark).join('\n');
  let before = look();
  for (let tries = 0; tries < SETTLE_TRIES; tries++) {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const now = look();
    if (now === before) return;
    before = now;
  }
}

/** Lets the event loop run. */
function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Undefined if the record was changed. */
export async function contentIn(
  record: Pick<FoundRecord, 'content'>,
  { state, offset }: SavedFile,
): Promise<Buffer | undefined> {
  if (state.kind !== 'file' || offset === undefined) return undefined;
  const content = await record.content(offset, state.size).catch(() => undefined);
  return content && hashOf(content) === state.hash ? content : undefined;
}
