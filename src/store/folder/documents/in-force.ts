import { basename } from 'node:path';
import type { LessonBook } from '../../../core/learning/lesson.ts';
import { NightshiftError } from '../../../core/model/errors.ts';
import type { Counts } from '../../../core/model/events.ts';
import { Together } from '../../../core/schedule/together.ts';
import type { ShiftDocuments } from '../../../formats/compile.ts';
import { renderLessons } from '../../../formats/lessons.ts';
import { parseManager } from '../../../formats/manager.ts';
import { replaceSteps } from '../../../formats/task.ts';
import type { DocumentEdit, Documents, RowTask, SizeChange } from '../../documents.ts';
import { retryPassing } from '../files/retry.ts';
import { acceptedId } from './acceptances.ts';
import { withBatchEnd } from './batch-end.ts';
import type { InForceOptions } from './in-force-options.ts';
import { type Texts, textsOf } from './in-force-record.ts';
import { type FileContent, isSameContent, settle } from './put-back.ts';
import { describeEdit, maskOf, mergeManager, taskOf } from './resolve-edit.ts';
import type { ShiftFiles } from './shift-files.ts';
import { patienceWith, type Unusable, type Witnesses } from './unusable.ts';

/** At most this many running items are named. */
const NAMED_AT_MOST = 50;

/**
 * The documents that decide how items are done and judged, their environment, and what may be spent: `manager.md`,
 * the tasks of its Task Order, `.env`, `lessons.json`. They are held here as texts, and agents never change them. While
 * an agent works, a file that differs is put back, unless you accepted it with a command. While none works, what is on
 * disk is yours and is taken.
 */
export class InForce implements Documents {
  readonly #files: ShiftFiles;
  readonly #options: InForceOptions;
  readonly #startedAt: number;
  readonly #folder: Promise<string>;
  readonly #atWork = new Map<symbol, RowTask | undefined>();
  readonly #looking = new Together(() => this.#alone(() => this.#look()));
  readonly #taken = new Set<string>();
  revision = 0;
  #texts: Texts;
  #found: DocumentEdit[] = [];
  /** An agent worked since the last check. */
  #isDue = false;
  /** What could not be put back yet, and since when it differs. It may be repaired meanwhile. */
  #unusable = new Map<string, Unusable>();
  #tail: Promise<unknown> = Promise.resolve();

  private constructor(files: ShiftFiles, texts: Texts, options: InForceOptions) {
    this.#files = files;
    this.#texts = texts;
    this.#options = options;
    this.#startedAt = options.now();
    this.#folder = files.folderId();
  }

  /** Starts with what is on disk, or with texts that were in force when an earlier process ended. */
  static async open(files: ShiftFiles, options: InForceOptions, texts?: Texts): Promise<InForce> {
    return new InForce(files, texts ?? textsOf(files.paths, await files.read()), options);
  }

  /** What a run uses from its next claim on. It is recorded before that claim. */
  async read(): Promise<ShiftDocuments> {
    return this.#alone(async () => {
      if (this.#atWork.size > 0 || this.#isDue) {
        await this.#look();
        this.#settleDue();
        this.#requireUsable();
      } else {
        await this.#takeAll();
      }
      await this.#options.record?.write(this.#texts);
      return this.#documents();
    });
  }

  protect(item?: RowTask): AsyncDisposable {
    const key = Symbol();
    this.#atWork.set(key, item);
    this.#isDue = true;
    return {
      [Symbol.asyncDispose]: async () => {
        // While it still counts. What can't be read now is read before anything else is taken.
        const hasLooked = await this.#looking.done().then(
          () => true,
          () => false,
        );
        this.#atWork.delete(key);
        if (hasLooked) this.#settleDue();
      },
    };
  }

  async putBack(): Promise<readonly DocumentEdit[]> {
    await this.#looking.done();
    return this.#found.splice(0);
  }

  /** No agent is left. What could not be read, or a copy of the folder in its place, is found by the next start. */
  async close(): Promise<void> {
    if (!this.#isDue && (await this.isThere())) await this.#options.record?.remove().catch(() => {});
  }

  folderId(): Promise<string> {
    return this.#files.folderId();
  }

  /** Otherwise nothing is put back: not into another folder, nor into one that is just being removed. */
  async isThere(): Promise<boolean> {
    return (await this.#files.folderId()) === (await this.#folder) && !this.#files.isEmptied();
  }

  keepVersion(task: string, text: string): Promise<void> {
    return this.#files.keepVersion(task, text);
  }

  finishBatch(counts: Counts, size: SizeChange | undefined): Promise<number | undefined> {
    return this.#alone(async () => {
      if (this.#isDue) await this.#look();
      const inForce = await this.#files.finishBatch(counts, size);
      const { manager } = this.#files.paths;
      this.#set(manager, withBatchEnd(this.#texts.get(manager)!, manager, counts, size).text);
      return inForce;
    });
  }

  async writeSteps(task: string, from: string, steps: readonly string[]): Promise<string | undefined> {
    const text = replaceSteps(from, steps);
    const write = async () => (await this.#files.writeSteps(task, from, steps, this.#options.isByHand)) !== undefined;
    return (await this.#write(this.#files.paths.task(task), text, write)) ? text : undefined;
  }

  async writeLessons(from: string | undefined, book: LessonBook): Promise<string | undefined> {
    const text = renderLessons(book);
    const write = () => this.#files.writeLessons(from, text, this.#options.isByHand);
    return (await this.#write(this.#files.paths.lessons, text, write)) ? text : undefined;
  }

  /** Recorded before it is written: after a kill, our own text must not be mistaken for an edit by others. */
  #write(file: string, text: string, write: () => Promise<boolean>): Promise<boolean> {
    return this.#alone(async () => {
      if (this.#isDue) await this.#look();
      const { record } = this.#options;
      await record?.write(this.#texts, { file, text });
      const isWritten = await write();
      if (isWritten) this.#set(file, text);
      await record?.write(this.#texts);
      return isWritten;
    });
  }

  #settleDue(): void {
    this.#isDue = this.#atWork.size > 0 || this.#unusable.size > 0;
  }

  /** Nothing is claimed while a file may be half saved: readers wait for it (rule F6). */
  #requireUsable(): void {
    for (const [file, { seen }] of this.#unusable) {
      if (seen.text === undefined) {
        throw new NightshiftError('not-found', seen.unreadable ?? `${file} is missing`, undefined, { file });
      }
      this.#documents(new Map([...this.#texts, [file, seen.text]]));
    }
  }

  #set(file: string, text: string): void {
    this.#texts = new Map([...this.#texts, [file, text]]);
  }

  #documents(texts: Texts = this.#texts): ShiftDocuments {
    return this.#files.assemble((file) => texts.get(file));
  }

  /** One at a time, so that our own writes are not mistaken for edits by others. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => {});
    return done;
  }

  /** No agent works: what is on disk is yours. */
  async #takeAll(): Promise<void> {
    const documents = await this.#files.read();
    const texts = textsOf(this.#files.paths, documents);
    const isSame =
      texts.size === this.#texts.size && [...texts].every(([file, text]) => this.#texts.get(file) === text);
    if (isSame) return;
    await this.#options.check(documents);
    this.#texts = texts;
  }

  /** A temporary refusal of the system does not end a run. */
  #look(): Promise<void> {
    return retryPassing(() => this.#lookOnce());
  }

  async #lookOnce(): Promise<void> {
    if (!(await this.isThere())) return;
    if (this.#atWork.size > 0) this.#options.record?.touch(this.#options.now());
    const differing = [...this.#texts.keys()].filter((file) => !isSameContent(this.#files.see(file), this.#seen(file)));
    const settled = new Map<string, FileContent>();
    // Checked first: the writer may be done in a moment.
    const open = differing.length > 0 ? this.#options.writers?.() : undefined;
    const seen = differing.length > 0 ? await settle(differing, (file) => this.#files.see(file)) : [];
    for (const [file, each] of seen) if (!isSameContent(each, this.#seen(file))) settled.set(file, each);
    const accepted = await this.#takeAccepted(settled);
    const unusable = new Map<string, Unusable>();
    const running = [...this.#atWork.values()].filter((item) => item !== undefined).slice(0, NAMED_AT_MOST);
    for (const [file, seen] of settled) {
      if (accepted.has(file)) continue;
      const writers = open?.get(file) ?? new Set<string>();
      const first = this.#unusable.get(file) ?? { since: performance.now(), running, writers };
      const patience = this.#options.isByHand ? 0 : patienceWith(this.#files, this.#texts, file, seen);
      const isLeft = performance.now() - first.since < patience || !(await this.#refuse(file, seen, first));
      if (isLeft) unusable.set(file, { ...first, seen });
    }
    this.#unusable = unusable;
  }

  #seen(file: string): FileContent {
    const text = this.#texts.get(file);
    return text === undefined ? {} : { text };
  }

  /**
   * Takes what you put in force with a command, all of it or nothing: a Task Order and the task that it names are one
   * edit.
   */
  async #takeAccepted(settled: ReadonlyMap<string, FileContent>): Promise<ReadonlySet<string>> {
    const { paths } = this.#files;
    const idOf = (file: string, { text }: FileContent) => {
      const id = text === undefined ? undefined : acceptedId(paths, file, text);
      return id === undefined || this.#taken.has(id) ? undefined : id;
    };
    const ids = new Map(
      [...settled].flatMap(([file, seen]) => {
        const id = idOf(file, seen);
        return id === undefined ? [] : [[file, id] as const];
      }),
    );
    if (ids.size === 0) return new Set();
    const texts = new Map(this.#texts);
    for (const file of ids.keys()) texts.set(file, settled.get(file)!.text);
    try {
      for (const { name } of parseManager(texts.get(paths.manager)!, paths.manager).tasks) {
        const file = paths.task(name);
        if (texts.has(file)) continue;
        const seen = this.#files.see(file);
        if (idOf(file, seen) !== undefined) texts.set(file, seen.text);
      }
      const documents = this.#documents(texts);
      await this.#options.check(documents);
      const before = this.#texts;
      this.#texts = textsOf(this.#files.paths, documents);
      this.revision++;
      for (const [file, id] of ids) {
        this.#taken.add(id);
        const what = this.#describe(file, before.get(file), { text: texts.get(file)! });
        this.#options.emit({ type: 'document:accepted', file, what, ...taskOf(paths, file) });
      }
      return new Set(ids.keys());
    } catch (error) {
      if (!(error instanceof NightshiftError)) throw error;
      for (const id of ids.values()) this.#taken.add(id);
      const message = `the accepted edit can't be used and was reverted: ${error.message}`;
      this.#options.emit({ type: 'run:warning', message: maskOf(paths, this.#texts).text(message) });
      return new Set();
    }
  }

  /** Puts a file back, except for what may take effect at once. False if it was written again just now. */
  async #refuse(file: string, seen: FileContent, { running, writers }: Witnesses): Promise<boolean> {
    const inForce = this.#texts.get(file);
    const { paths } = this.#files;
    const what = this.#describe(file, inForce, seen);
    const text = file === paths.manager ? mergeManager(paths, inForce!, seen, this.#startedAt) : inForce;
    const isKept = text === seen.text;
    const restored = isKept ? {} : await this.#files.restore(file, seen, text);
    if (!restored) return false;
    if (text !== undefined) this.#set(file, text);
    if (text !== inForce) this.revision++;
    if (isKept) return true;
    this.#options.emit({
      type: 'edit:reverted',
      file,
      what,
      ...restored,
      ...taskOf(paths, file),
      runningItems: [...running],
      remedy: `nightshift accept ${paths.name}`,
    });
    this.#found.push({ what: `${basename(file)}: ${what}`, file: basename(file), folder: paths.name, writers });
    return true;
  }

  #describe(file: string, before: string | undefined, seen: FileContent): string {
    const { paths } = this.#files;
    const what = describeEdit(paths, file, { before: before ?? '', seen, now: this.#startedAt });
    return maskOf(paths, this.#texts).text(what);
  }
}
