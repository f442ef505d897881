import { isUtf8 } from 'node:buffer';
import { mkdir, open, readdir, readFile, stat } from 'node:fs/promises';
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

  constructor(paths: ShiftPaths, failpoint: Failpoint = () => {}) {
    this.paths = paths;
    this.#failpoint = failpoint;
  }

  async folderId(): Promise<string> {
    const found = await stat(this.paths.folder).catch(() => undefined);
    return found ? `${found.dev}:${found.ino}` : 'gone';
  }

  async read(): Promise<ShiftDocuments> {
    const { name, root, folder, table, manager: managerFile, env } = this.paths;
    const manager = parseManager(await this.#text(managerFile), managerFile);
    const tasks = [];
    for (const entry of manager.tasks) {
      const file = this.paths.task(entry.name);
      const text = await this.#text(file).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
        throw new NightshiftError(
          'bad-manager',
          `the Task Order names ${entry.name}, but there is no ${entry.name}.md`,
          `\`nightshift add-task ${name} ${entry.name}\` writes one, or take it out of the Task Order`,
          { file: managerFile, line: entry.line },
        );
      });
      tasks.push({ name: entry.name, file, document: parseTask(text, file) });
    }
    const secrets = await this.#text(env).then(
      (text) => parseEnv(text, env),
      (error: unknown) => {
        if (isMissing(error)) return new Map<string, string>();
        throw error;
      },
    );
    return { name, root, folder, table, managerFile, manager, tasks, secrets };
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
    return parseManager(await this.#text(manager), manager).tasks;
  }

  async addToOrder(task: string): Promise<void> {
    await this.#edit(this.paths.manager, (text) => addTask(text, task));
  }

  /** Undefined: there is no such file. */
  async taskText(task: string): Promise<string | undefined> {
    return this.#text(this.paths.task(task)).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
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
    const read = () => this.#text(file).catch(() => '');
    let text = await read();
    for (let before: string | undefined; text !== before; text = await read()) {
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
    const read = () =>
      this.#text(file).catch((error: unknown) => {
        // A file that was removed is written again: that is a change too.
        if (isMissing(error)) return '';
        throw error;
      });
    for (;;) {
      const text = await read();
      const changed = change(text);
      if (changed === text) return;
      await before(text);
      const mode = await stat(file).then(
        (found) => found.mode & 0o777,
        () => 0o644,
      );
      // An editor that knows nothing of the lock may save just now: then its text is the one to change.
      const isCurrent = async () => (await read()) === text;
      if (await replaceFile(file, Buffer.from(changed), mode, this.#failpoint, isCurrent)) return;
    }
  }

  /** Never through a symbolic link: nothing may lead outside of the shift. Bytes that are not UTF-8 would not survive an edit. */
  async #text(file: string): Promise<string> {
    try {
      const handle = await open(file, READ_ONLY_HERE);
      try {
        const stats = await handle.stat();
        if (!stats.isFile()) throw notAFile(stats.isDirectory(), file);
        return decodeText(await handle.readFile(), file);
      } finally {
        await handle.close();
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

function isMissing(error: unknown): boolean {
  return error instanceof NightshiftError && error.code === 'not-found';
}
