import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../core/errors.ts';
import type { Counts } from '../core/events.ts';
import { versionOf } from '../core/identity.ts';
import type { ShiftDocuments } from '../formats/compile.ts';
import { parseEnv } from '../formats/env.ts';
import { addTask, parseManager, readShiftSettings, setProgress, setSetting } from '../formats/manager.ts';
import { parseTask, replaceSteps, restoreProtected } from '../formats/task.ts';
import { diskError, type Failpoint, removeTemporaries, replaceFile } from './atomic-write.ts';
import type { Documents, SizeChange } from './documents.ts';
import { LOCK_WAIT_MS, lockWithin } from './flock.ts';
import type { ShiftPaths } from './layout.ts';
import { notAFile, READ_ONLY_HERE, readError } from './table-file.ts';

const SETTLE_MS = 100;
const PATIENCE_MS = 10_000;

/** The documents of a shift: `manager.md`, the task files, `.env`. Written under the shift's lock, all or nothing. */
export class ShiftFiles implements Documents {
  readonly paths: ShiftPaths;
  readonly #failpoint: Failpoint;
  readonly #parsed = new Map<string, { text: string; document: unknown }>();
  #documents: ShiftDocuments | undefined;

  constructor(paths: ShiftPaths, failpoint: Failpoint = () => {}) {
    this.paths = paths;
    this.#failpoint = failpoint;
  }

  async folderId(): Promise<string> {
    const found = statIfThere(this.paths.folder);
    return found ? `${found.dev}:${found.ino}` : 'gone';
  }

  /** The same object as the last time if nothing changed. */
  async read(): Promise<ShiftDocuments> {
    const { name, root, folder, table, manager: managerFile, env } = this.paths;
    const manager = this.#parse(managerFile, this.#text(managerFile), parseManager);
    const tasks = manager.tasks.map((entry) => {
      const file = this.paths.task(entry.name);
      const text = this.#textIfThere(file);
      if (text === undefined) {
        throw new NightshiftError(
          'bad-manager',
          `the Task Order names ${entry.name}, but there is no ${entry.name}.md`,
          `\`nightshift add-task ${name} ${entry.name}\` writes one, or take it out of the Task Order`,
          { file: managerFile, line: entry.line },
        );
      }
      return { name: entry.name, file, document: this.#parse(file, text, parseTask) };
    });
    const secrets = this.#parse(env, this.#textIfThere(env) ?? '', parseEnv);
    const last = this.#documents;
    const isSame =
      last?.manager === manager &&
      last.secrets === secrets &&
      last.tasks.every(({ document }, i) => document === tasks[i]?.document);
    if (!isSame) this.#documents = { name, root, folder, table, managerFile, manager, tasks, secrets };
    return this.#documents!;
  }

  /** A run reads its documents with every item; what has the same text need not be parsed again. */
  #parse<T>(file: string, text: string, parse: (text: string, file: string) => T): T {
    const known = this.#parsed.get(file);
    if (known?.text === text) return known.document as T;
    const document = parse(text, file);
    this.#parsed.set(file, { text, document });
    return document;
  }

  async finishBatch(counts: Counts, size: SizeChange | undefined): Promise<number | undefined> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await this.#writeManifest(counts, size);
      } catch (error) {
        // Somebody may just be saving it (rule F6). What can't be read is never written over.
        const isHalfSaved = error instanceof NightshiftError && !['disk', 'locked'].includes(error.code);
        if (!isHalfSaved || performance.now() >= end) throw error;
        await sleep(SETTLE_MS);
      }
    }
  }

  async #writeManifest(counts: Counts, size: SizeChange | undefined): Promise<number | undefined> {
    let inForce = size?.to;
    await this.#edit(this.paths.manager, (text) => {
      const manager = parseManager(text, this.paths.manager);
      let changed = setProgress(text, counts);
      if (size) {
        const { batchSize } = readShiftSettings(manager, this.paths.manager).settings;
        if (batchSize === size.was) changed = setSetting(changed, 'current-batch-size', String(size.to));
        else inForce = batchSize;
      }
      return changed;
    });
    return inForce;
  }

  async writeSteps(task: string, from: string, steps: readonly string[]): Promise<string | undefined> {
    let written: string | undefined;
    await this.keepVersion(task, from);
    await this.#edit(this.paths.task(task), (text) => {
      if (text !== from) return text;
      written = replaceSteps(text, steps);
      return written;
    });
    if (written !== undefined) await this.keepVersion(task, written);
    return written;
  }

  async keepVersion(task: string, text: string): Promise<void> {
    const folder = this.paths.versions(task);
    try {
      await mkdir(folder, { recursive: true });
      using _lock = await lockWithin(this.paths.lock, LOCK_WAIT_MS);
      const kept = await readdir(folder);
      const version = versionOf(text);
      if (kept.some((name) => name.endsWith(`-${version}.md`))) return;
      const number = String(kept.length + 1).padStart(4, '0');
      await replaceFile(join(folder, `${number}-${version}.md`), Buffer.from(text), 0o600, this.#failpoint);
    } catch (cause) {
      throw diskError(cause, folder);
    }
  }

  /** The kept versions of a task, oldest first. */
  async versions(task: string): Promise<{ number: number; version: string; text: string }[]> {
    const folder = this.paths.versions(task);
    const names = (await readdir(folder).catch(() => [])).filter((name) => /^\d{4,}-[0-9a-f]+\.md$/.test(name)).sort();
    return Promise.all(
      names.map(async (name) => {
        const [number, version] = basename(name, '.md').split('-') as [string, string];
        return { number: Number(number), version, text: await readFile(join(folder, name), 'utf8') };
      }),
    );
  }

  async taskOrder(): Promise<readonly { readonly name: string; readonly line: number }[]> {
    const { manager } = this.paths;
    return parseManager(this.#text(manager), manager).tasks;
  }

  async addToOrder(task: string): Promise<void> {
    await this.#edit(this.paths.manager, (text) => addTask(text, task));
  }

  /** Undefined: there is no such file. */
  async taskText(task: string): Promise<string | undefined> {
    return this.#textIfThere(this.paths.task(task));
  }

  /** A whole task file; the caller has checked it. */
  async replaceTask(task: string, text: string): Promise<void> {
    await this.#edit(this.paths.task(task), () => text);
  }

  isProtectedSame(text: string, claimed: string): boolean {
    return text === claimed || restoreProtected(text, claimed) === undefined;
  }

  async putBack(task: string, claimed: string): Promise<string | undefined> {
    const file = this.paths.task(task);
    if (!(await this.#isForeign(file, claimed))) return undefined;
    let kept: string | undefined;
    await this.#edit(
      file,
      (text) => {
        const restored = restoreProtected(text, claimed);
        if (restored !== undefined) kept = `${file}.put-back-${new Date().toISOString().replace(/[:.]/g, '')}`;
        return restored ?? text;
      },
      async (text) => {
        if (kept !== undefined) await replaceFile(kept, Buffer.from(text), 0o600, this.#failpoint);
      },
    );
    return kept;
  }

  /** Whether protected text was changed, seen twice: an editor that saves in place empties the file before it fills it. */
  async #isForeign(file: string, claimed: string): Promise<boolean> {
    const read = () => {
      try {
        return this.#text(file);
      } catch {
        return '';
      }
    };
    let text = read();
    for (let before: string | undefined; text !== before; text = read()) {
      if (restoreProtected(text, claimed) === undefined) return false;
      before = text;
      await sleep(SETTLE_MS);
    }
    return true;
  }

  /** Makes the engine's own folder, and clears away what a crash left half written. */
  async prepare(): Promise<void> {
    try {
      await mkdir(this.paths.engine, { recursive: true, mode: 0o700 });
      using _lock = await lockWithin(this.paths.lock, LOCK_WAIT_MS);
      await removeTemporaries(this.paths.folder);
      const versions = dirname(this.paths.versions('task'));
      for (const task of await readdir(versions).catch(() => [])) await removeTemporaries(join(versions, task));
    } catch (cause) {
      throw diskError(cause, this.paths.folder);
    }
  }

  async #edit(
    file: string,
    change: (text: string) => string,
    before: (text: string) => Promise<void> = async () => {},
  ): Promise<void> {
    using _lock = await lockWithin(this.paths.lock, LOCK_WAIT_MS);
    // A file that was removed is written again: that is a change too.
    const read = () => this.#textIfThere(file) ?? '';
    for (;;) {
      const text = read();
      const changed = change(text);
      if (changed === text) return;
      await before(text);
      const mode = (statIfThere(file)?.mode ?? 0o644) & 0o777;
      // An editor that knows nothing of the lock may save just now: then its text is the one to change.
      const isCurrent = async () => read() === text;
      if (await replaceFile(file, Buffer.from(changed), mode, this.#failpoint, isCurrent)) return;
    }
  }

  #textIfThere(file: string): string | undefined {
    try {
      return this.#text(file);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /**
   * Never through a symbolic link: nothing may lead outside of the shift. Not by a thread: to wake one takes longer than
   * to read a few kilobytes.
   */
  #text(file: string): string {
    try {
      const fd = openSync(file, READ_ONLY_HERE);
      try {
        const stats = fstatSync(fd);
        if (!stats.isFile()) throw notAFile(stats.isDirectory(), file);
        return decodeText(readFileSync(fd), file);
      } finally {
        closeSync(fd);
      }
    } catch (cause) {
      throw readError(cause, file);
    }
  }
}

/** Bytes that are not UTF-8 would not survive an edit. */
function decodeText(bytes: Buffer, file: string): string {
  const lines = () => Buffer.from(bytes).toString('latin1').split('\n');
  if (!isUtf8(bytes)) {
    const line = lines().findIndex((each) => !isUtf8(Buffer.from(each, 'latin1'))) + 1;
    throw new NightshiftError('bad-folder', `${file} is not UTF-8 text`, 'save it as UTF-8', { file, line });
  }
  if (bytes.includes(0)) {
    const line = lines().findIndex((each) => each.includes('\0')) + 1;
    const hint = 'restore it, or remove the NUL and what else is damaged';
    throw new NightshiftError('bad-folder', `${file} holds a NUL byte, so it is no text`, hint, { file, line });
  }
  return bytes.toString('utf8');
}

function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof NightshiftError && error.code === 'not-found';
}
