import { constants, lstatSync } from 'node:fs';
import { basename } from 'node:path';
import { isReadable } from '../../../core/model/event-shape.ts';
import { Together } from '../../../core/schedule/together.ts';
import { diskError, temporaryName } from '../files/atomic-write.ts';
import { folderOf, type InnerFolder, setAside } from '../files/inside.ts';
import { retryPassing } from '../files/retry.ts';
import type { ShiftPaths } from '../layout.ts';
import { JournalFile } from './append-file.ts';
import type { JournalMemory } from './journal-memory.ts';
import { olderFiles } from './journal-reader.ts';
import * as place from './replace-journal.ts';

/** Events come in bursts, which are written together. */
const SOON_MS = 10;
/** Events that no caller waits for survive a power cut after this time. */
const SYNC_WITHIN_MS = 1000;
/** Another program may keep replacing the file. */
const MOST_TRIES = 20;
/** A file that grew by this much, and by as much as its checkpoint, is continued in a new one. */
const MOST_BYTES = 8 * 1024 * 1024;

type Paths = Pick<ShiftPaths, 'folder' | 'journal'>;

/**
 * History, one event on each line. It is appended to and read, never replayed into the table. Several processes may
 * append (a run, `table edit`), each under a lock on the file and after checking that it is still the journal. It may
 * be removed, cut or replaced at any time: a writer with a `JournalMemory` notices at its next write, and writes
 * everything known again.
 */
export class Journal implements AsyncDisposable {
  readonly #place: Paths;
  readonly #keeper: JournalMemory | undefined;
  readonly #folderId: string | undefined;
  #file!: JournalFile;
  /** The size of the checkpoint at the start of the file. */
  #checkpointBytes = 0;
  #waiting: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #syncTimer: NodeJS.Timeout | undefined;
  #tail: Promise<void> = Promise.resolve();
  #failure: unknown;
  readonly #failed = new AbortController();
  readonly #syncing = new Together(() => this.#sync());

  private constructor(paths: Paths, keeper: JournalMemory | undefined) {
    this.#place = paths;
    this.#keeper = keeper;
    this.#folderId = place.idOf(paths.folder);
  }

  static async open(paths: Paths, keeper?: JournalMemory): Promise<Journal> {
    const journal = new Journal(paths, keeper);
    try {
      await journal.#begin();
    } catch (cause) {
      throw diskError(cause, paths.journal);
    }
    return journal;
  }

  /** Aborts when an appended event can't be written. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** Appends soon. A failure shows at the next flush or check. */
  append(event: object): void {
    this.#waiting.push(`${JSON.stringify(event)}\n`);
    this.#timer ??= setTimeout(() => void this.#writeSoon(), SOON_MS);
  }

  /** Resolves when everything appended so far survives a power cut. Concurrent callers share one sync. */
  flush(): Promise<void> {
    return this.#syncing.done();
  }

  /** Continues in a new file that begins with everything known. */
  async continue(): Promise<void> {
    await this.#next({ isContinued: true });
    this.check();
  }

  /** Throws if an earlier append failed. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush().catch(() => {});
    clearTimeout(this.#timer);
    await this.#file.close();
  }

  async #begin(): Promise<void> {
    for (;;) {
      this.#file = await retryPassing(() => this.#openFirst());
      await this.#file.lock();
      // A run may have continued in another file meanwhile.
      if (['here', 'moved'].includes(this.#whereIsFile())) break;
      await this.#file.close();
    }
    try {
      if (this.#keeper) {
        for await (const { value, isFirst } of this.#file.values({})) {
          this.#keeper.read(value, isFirst);
          this.#checkpointBytes = place.checkpointBytes(value) ?? this.#checkpointBytes;
        }
      }
      await this.#file.know();
      if (this.#isLarge) await this.#replace(this.#file);
    } finally {
      this.#file.unlock();
    }
  }

  async #openFirst(): Promise<JournalFile> {
    using folder = this.#folder();
    this.#hasFile(folder);
    return await JournalFile.open(folder.at(this.#name), this.#place.journal, constants.O_CREAT);
  }

  /** Something else than a file is set aside, if there is a way to report it. */
  #hasFile(folder: InnerFolder): boolean {
    const found = lstatSync(folder.at(this.#name), { throwIfNoEntry: false });
    if (!found || found.isFile()) return found !== undefined;
    if (this.#keeper) setAside(folder, this.#name, this.#place.journal, this.#keeper.setAside);
    return false;
  }

  get #isLarge(): boolean {
    const grown = this.#file.size - this.#checkpointBytes;
    return this.#keeper?.mayRotate === true && grown > Math.max(MOST_BYTES, this.#checkpointBytes);
  }

  get #name(): string {
    return basename(this.#place.journal);
  }

  #folder(): InnerFolder {
    return folderOf(this.#place.folder, this.#place.journal, this.#keeper?.setAside);
  }

  #writeSoon(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#next({});
  }

  #next(options: { isContinued?: boolean; isChecked?: boolean }): Promise<void> {
    this.#tail = this.#tail.then(() => this.#attempt(() => retryPassing(() => this.#write(options))));
    return this.#tail;
  }

  async #attempt(work: () => Promise<void>, tries = 1): Promise<void> {
    if (this.#failure) return;
    try {
      await work();
    } catch (cause) {
      // The folder was removed just now: the next try finds it missing, and creates it.
      if (place.isMissing(cause) && tries < MOST_TRIES) return this.#attempt(work, tries + 1);
      this.#failure = diskError(cause, this.#place.journal);
      this.#failed.abort(this.#failure);
    }
  }

  async #write({ isContinued = false, isChecked = false }): Promise<void> {
    if (this.#waiting.length === 0 && !isContinued && !isChecked) return;
    try {
      await this.#settle();
      if (isContinued) await this.#replace(this.#file);
      const lines = this.#waiting.join('');
      this.#waiting = [];
      if (lines !== '') await this.#file.append(lines);
      if (this.#isLarge) await this.#replace(this.#file);
    } finally {
      this.#file.unlock();
    }
    this.#syncTimer ??= setTimeout(() => void this.flush().catch(() => {}), SYNC_WITHIN_MS);
  }

  async #sync(): Promise<void> {
    await this.#writeSoon();
    clearTimeout(this.#syncTimer);
    this.#syncTimer = undefined;
    this.check();
    // The system reports a failure once: the next sync would succeed without the lost data.
    await this.#attempt(() => this.#file.sync());
    if (this.#whereIsFile() !== 'here') await this.#next({ isChecked: true });
    this.check();
  }

  /** Locks the current journal file. Writes again what was lost until then. */
  async #settle(): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const file = this.#file;
      await file.lock();
      const where = this.#whereIsFile();
      // A run that has lost its folder finds that out by itself (rule M6).
      if (where === 'moved') return;
      if (where !== 'here') {
        file.unlock();
        await this.#reopen(where);
        continue;
      }
      const state = await file.compare();
      if (state === 'same') return;
      if (state === 'grown' || !this.#keeper) {
        await this.#hear(file, file.size);
        await file.know();
        return;
      }
      if (await this.#replace(file, true)) this.#keeper.lost('was cut short or overwritten');
    }
    throw place.cantKeep(this.#place.journal);
  }

  #whereIsFile(): place.Whereabouts {
    return place.whereIs(this.#file.id, this.#place.journal, { path: this.#place.folder, id: this.#folderId });
  }

  /** Our file is not the journal any more. */
  async #reopen(where: place.Whereabouts): Promise<void> {
    using folder = this.#folder();
    if (!this.#hasFile(folder) && this.#keeper) {
      const what = where === 'missing' ? 'was removed' : 'was replaced by something that is not a file';
      if (await this.#replace(undefined)) this.#keeper.lost(what);
      return;
    }
    const isContinued = olderFiles(this.#place.journal).some(({ id }) => id === this.#file.id);
    const next = await JournalFile.open(folder.at(this.#name), this.#place.journal, constants.O_CREAT);
    if (!this.#keeper || isContinued) {
      await this.#file.close();
      this.#file = next;
      await next.know();
      return;
    }
    await this.#adopt(next, this.#keeper);
  }

  /** Another file was put in its place: a copy of ours, or what other processes appended since. */
  async #adopt(next: JournalFile, keeper: JournalMemory): Promise<void> {
    try {
      await next.lock();
      let isCopy = false;
      for await (const { value } of next.values({ containing: [keeper.run] })) {
        isCopy ||= isReadable(value) && value.run === keeper.run;
      }
      if (!isCopy) await this.#hear(next, 0);
      if (await this.#replace(next, true)) keeper.lost('was replaced');
    } finally {
      await next.close();
    }
  }

  async #hear(file: JournalFile, from: number): Promise<void> {
    const keeper = this.#keeper;
    if (!keeper) return;
    for await (const { value } of file.values({ from })) {
      if (isReadable(value) && value.run !== keeper.run) keeper.heard(value);
    }
  }

  /**
   * Puts a file in place that begins with everything known; keeps `old`, whose lock is held, beside it. Waiting
   * events are part of what is known: readers find them there, and they are not counted twice. A crash leaves the old
   * file or the new one as the journal. False if another process put a file there.
   */
  async #replace(old: JournalFile | undefined, isForced = false): Promise<boolean> {
    await old?.sync();
    using folder = this.#folder();
    const temporary = temporaryName(this.#name);
    const next = await JournalFile.open(
      folder.at(temporary),
      this.#place.journal,
      constants.O_CREAT | constants.O_EXCL,
    );
    // Atomic with taking the waiting events: later ones are not in it.
    const waiting = this.#waiting;
    const known = [...this.#keeper!.checkpoint()].map((line) => JSON.stringify(line));
    this.#waiting = [];
    let isPlaced = false;
    try {
      await next.lock();
      const bytes = await place.writeCheckpoint(next, known, waiting);
      isPlaced = await place.putInPlace(folder, { temporary, name: this.#name, old: old?.id, isForced });
      if (isPlaced) this.#checkpointBytes = bytes;
    } finally {
      if (!isPlaced) {
        this.#waiting = [...waiting, ...this.#waiting];
        await next.close();
        place.removeIfThere(folder.at(temporary));
      }
    }
    if (!isPlaced) return false;
    await this.#file.close();
    this.#file = next;
    return true;
  }
}
