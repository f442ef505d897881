import { lstatSync, type Stats, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { NightshiftError } from '../../../core/model/errors.ts';
import type { Counts } from '../../../core/model/events.ts';
import type { ShiftDocuments } from '../../../formats/compile.ts';
import { parseEnv } from '../../../formats/env.ts';
import { parseLessons } from '../../../formats/lessons.ts';
import { addTask, carryOver, parseManager, setSetting } from '../../../formats/manager.ts';
import { parseTask, replaceSteps } from '../../../formats/task.ts';
import type { SizeChange } from '../../documents.ts';
import { diskError, type Failpoint, replaceFile } from '../files/atomic-write.ts';
import { LOCK_WAIT_MS, lockWithin } from '../files/flock.ts';
import type { OnSetAside } from '../files/inside.ts';
import { retryPassing } from '../files/retry.ts';
import type { ShiftPaths } from '../layout.ts';
import { accept, termsOf } from './acceptances.ts';
import { withBatchEnd } from './batch-end.ts';
import { readDocument } from './document-text.ts';
import { prepareFolder } from './prepare-folder.ts';
import { type FileContent, isSameContent, isUnreadable, keepBeside, restoredMode } from './put-back.ts';
import { Versions } from './versions.ts';

/**
 * The documents of a shift: `manager.md`, the task files, `.env`, `lessons.json`. Written under the shift's lock, all or
 * nothing.
 */
export class ShiftFiles {
  readonly paths: ShiftPaths;
  readonly versions: Versions;
  readonly #failpoint: Failpoint;
  readonly #parsed = new Map<string, { text: string | undefined; document: unknown }>();
  #documents: ShiftDocuments | undefined;
  #folderId = 'unknown';

  constructor(paths: ShiftPaths, failpoint: Failpoint = () => {}, onSetAside: OnSetAside = () => {}) {
    this.paths = paths;
    this.#failpoint = failpoint;
    this.versions = new Versions(paths, failpoint, onSetAside);
  }

  async folderId(): Promise<string> {
    const { folder } = this.paths;
    try {
      const { dev, ino } = statSync(folder);
      this.#folderId = `${dev}:${ino}`;
    } catch (error) {
      // What can't be read for another reason may well be there.
      if (isGone(error)) return 'gone';
    }
    return this.#folderId;
  }

  /** Both manifest and table are gone: the folder was removed, even if a file that is still written keeps it there. */
  isEmptied(): boolean {
    const { manager, table } = this.paths;
    return [manager, table].every(isAbsent);
  }

  /** As they are on disk. The same object as last time if nothing changed. */
  read(): Promise<ShiftDocuments> {
    return retryPassing(() => this.assemble((file) => this.#textIfThere(file)));
  }

  /** Parses texts. Undefined: there is no such file. */
  assemble(textOf: (file: string) => string | undefined): ShiftDocuments {
    const { name, root, folder, table, manager: managerFile, env: envFile, lessons: lessonsFile } = this.paths;
    const manager = this.#parse(managerFile, textOf(managerFile) ?? readDocument(managerFile), parseManager);
    const tasks = manager.tasks.map((entry) => {
      const file = this.paths.task(entry.name);
      const text = textOf(file);
      if (text === undefined) {
        throw new NightshiftError(
          'bad-manager',
          `the Task Order names ${entry.name}, but there is no ${entry.name}.md`,
          `\`nightshift add-task ${name} ${entry.name}\` writes one, or remove it from the Task Order`,
          { file: managerFile, line: entry.line },
        );
      }
      return { name: entry.name, file, document: this.#parse(file, text, parseTask) };
    });
    const env = textOf(envFile);
    const secrets = this.#parse(envFile, env ?? '', parseEnv);
    const lessons = this.#parse(lessonsFile, textOf(lessonsFile), parseLessons);
    const last = this.#documents;
    const isSame =
      last?.manager === manager &&
      last.secrets === secrets &&
      last.env === env &&
      last.lessons === lessons &&
      last.tasks.every(({ document }, i) => document === tasks[i]?.document);
    if (!isSame) this.#documents = { name, root, folder, table, managerFile, manager, tasks, secrets, env, lessons };
    return this.#documents!;
  }

  /** A run reads its documents for every item; an unchanged text is not parsed again. */
  #parse<T, U extends string | undefined>(file: string, text: U, parse: (text: U, file: string) => T): T {
    const known = this.#parsed.get(file);
    if (known && known.text === text) return known.document as T;
    const document = parse(text, file);
    this.#parsed.set(file, { text, document });
    return document;
  }

  async finishBatch(counts: Counts, size: SizeChange | undefined): Promise<number | undefined> {
    const { manager } = this.paths;
    let inForce: number | undefined;
    await this.#edit(manager, (text) => {
      const ended = withBatchEnd(text, manager, counts, size);
      inForce = ended.size;
      return ended.text;
    });
    return inForce;
  }

  /** Changes a setting of the Shift Configuration for you; only while no run is active. */
  async set(key: string, value: string): Promise<void> {
    await this.#edit(this.paths.manager, (text) => setSetting(text, key, value));
  }

  /** `isAccepted`: you asked for it, so an active run takes it. */
  async writeSteps(
    task: string,
    from: string,
    steps: readonly string[],
    isAccepted = false,
  ): Promise<string | undefined> {
    await this.keepVersion(task, from);
    const text = replaceSteps(from, steps);
    if (!(await this.#replace(this.paths.task(task), from, text, isAccepted))) return undefined;
    await this.keepVersion(task, text);
    return text;
  }

  /** Returns false if the file is not `from` any more. */
  async writeLessons(from: string | undefined, text: string, isAccepted = false): Promise<boolean> {
    return this.#replace(this.paths.lessons, from ?? '', text, isAccepted);
  }

  async #replace(file: string, from: string, to: string, isAccepted: boolean): Promise<boolean> {
    let isWritten = false;
    const change = (text: string) => {
      isWritten = text === from;
      return isWritten ? to : text;
    };
    if (isAccepted) await this.#accept(file, change);
    else await this.#edit(file, change);
    return isWritten;
  }

  keepVersion(task: string, text: string): Promise<void> {
    return this.versions.keep(task, text);
  }

  async taskOrder(): Promise<readonly { readonly name: string; readonly line: number }[]> {
    const { manager } = this.paths;
    return parseManager(readDocument(manager), manager).tasks;
  }

  async addToOrder(task: string): Promise<void> {
    await this.#accept(this.paths.manager, (text) => addTask(text, task));
  }

  /** Undefined: there is no such file. */
  async taskText(task: string): Promise<string | undefined> {
    return this.#textIfThere(this.paths.task(task));
  }

  /** Writes a whole task file. The caller has checked it. */
  async replaceTask(task: string, text: string): Promise<void> {
    await this.#accept(this.paths.task(task), () => text);
  }

  /**
   * Writes your text of a document, which counts at once, also while items run. The caller has checked it. `base`:
   * what it was made from. False if the file is another one by now; then nothing was written.
   */
  async putInForce(file: string, text: string, base: string): Promise<boolean> {
    let isThere = true;
    await this.#accept(file, (now) => {
      const isManager = file === this.paths.manager;
      isThere = isManager ? termsOf(this.paths, file, now) === termsOf(this.paths, file, base) : now === base;
      if (!isThere) return now;
      return isManager ? carryOver(text, now, file) : text;
    });
    return isThere;
  }

  /** Accepts a file as it is on disk. */
  async acceptAsIs(file: string, text: string): Promise<void> {
    using _lock = await lockWithin(this.paths.lock, LOCK_WAIT_MS);
    await accept(this.paths, file, text);
  }

  async #accept(file: string, change: (text: string) => string): Promise<void> {
    await this.#edit(file, change, (_, changed) => accept(this.paths, file, changed));
  }

  /** What is there now. Throws only for what is no edit: too many open files, a failing disk. */
  see(file: string): FileContent {
    try {
      return { text: readDocument(file) };
    } catch (error) {
      if (isMissing(error)) return {};
      if (error instanceof NightshiftError && error.code === 'bad-folder') return { unreadable: error.message };
      throw error;
    }
  }

  /**
   * Writes `text` in place of `seen`, and keeps that beside the file. Without a text, removes the file. Undefined if
   * something else is there by now; then nothing was done.
   */
  async restore(file: string, seen: FileContent, text: string | undefined): Promise<{ kept?: string } | undefined> {
    using _lock = await lockWithin(this.paths.lock, LOCK_WAIT_MS);
    const isCurrent = () => isSameContent(this.see(file), seen);
    if (!isCurrent()) return undefined;
    const mode = restoredMode(file, statIfThere(file));
    try {
      const kept = await keepBeside(file, seen, this.#failpoint);
      const check = isUnreadable(seen) ? undefined : isCurrent;
      if (text === undefined) await rm(file, { force: true });
      else if (!(await replaceFile(file, Buffer.from(text), mode, this.#failpoint, check))) return undefined;
      return kept === undefined ? {} : { kept };
    } catch (cause) {
      throw diskError(cause, file);
    }
  }

  prepare(): Promise<void> {
    return prepareFolder(this.paths);
  }

  async #edit(
    file: string,
    change: (text: string) => string,
    before: (text: string, changed: string) => Promise<void> = async () => {},
  ): Promise<void> {
    using _lock = await lockWithin(this.paths.lock, LOCK_WAIT_MS);
    // A removed file is written again: that is a change, too.
    const read = () => this.#textIfThere(file) ?? '';
    for (;;) {
      const text = await retryPassing(read);
      const changed = change(text);
      if (changed === text) return;
      await before(text, changed);
      const mode = restoredMode(file, statIfThere(file));
      // An editor without the lock may save just now: then its text is the one to change.
      const isCurrent = async () => (await retryPassing(read)) === text;
      if (await replaceFile(file, Buffer.from(changed), mode, this.#failpoint, isCurrent)) return;
    }
  }

  #textIfThere(file: string): string | undefined {
    try {
      return readDocument(file);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }
}

function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function isAbsent(file: string): boolean {
  try {
    lstatSync(file);
    return false;
  } catch (error) {
    return isGone(error);
  }
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function isMissing(error: unknown): boolean {
  return error instanceof NightshiftError && error.code === 'not-found';
}
