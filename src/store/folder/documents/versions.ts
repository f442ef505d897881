import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { versionOf } from '../../../core/model/identity.ts';
import { diskError, type Failpoint } from '../files/atomic-write.ts';
import { LOCK_WAIT_MS, lockWithin } from '../files/flock.ts';
import { folderOf, type OnSetAside, replaceInside } from '../files/inside.ts';
import { retryPassing } from '../files/retry.ts';
import type { ShiftPaths } from '../layout.ts';
import { READ_ONLY_HERE } from '../table/table-file.ts';

const NAME = /^\d{4,}-[0-9a-f]+\.md$/;
/** At most this many of each task are kept in memory; the others are on disk. */
const MOST_REMEMBERED = 50;

/** The versions of the task files, each in a file of its own (rule L4). */
export class Versions {
  readonly #paths: ShiftPaths;
  readonly #failpoint: Failpoint;
  readonly #onSetAside: OnSetAside;
  /** The versions written by this process, by task, in case their folder is removed. */
  readonly #remembered = new Map<string, string[]>();

  constructor(paths: ShiftPaths, failpoint: Failpoint, onSetAside: OnSetAside) {
    this.#paths = paths;
    this.#failpoint = failpoint;
    this.#onSetAside = onSetAside;
  }

  async keep(task: string, text: string): Promise<void> {
    const remembered = (this.#remembered.get(task) ?? []).filter((each) => each !== text);
    this.#remembered.set(task, [...remembered.slice(1 - MOST_REMEMBERED), text]);
    await this.#write(task);
  }

  /** Writes missing versions again. */
  async rewrite(): Promise<void> {
    for (const task of this.#remembered.keys()) await this.#write(task);
  }

  /** Oldest first. */
  async all(task: string): Promise<{ number: number; version: string; text: string }[]> {
    const folder = this.#paths.versions(task);
    const names = (await readdir(folder).catch(() => [])).filter((name) => NAME.test(name)).sort();
    const versions = await Promise.all(
      names.map(async (name) => {
        const [number, version] = basename(name, '.md').split('-') as [string, string];
        const read = readFile(join(folder, name), { encoding: 'utf8', flag: READ_ONLY_HERE });
        return { number: Number(number), version, text: await read.catch(() => undefined) };
      }),
    );
    return versions.flatMap(({ text, ...version }) => (text === undefined ? [] : [{ ...version, text }]));
  }

  async #write(task: string): Promise<void> {
    const folder = this.#paths.versions(task);
    try {
      using _lock = await lockWithin(this.#paths.lock, LOCK_WAIT_MS);
      const kept = await retryPassing(() => this.#names(folder));
      for (const text of this.#remembered.get(task) ?? []) {
        const version = versionOf(text);
        if (kept.some((name) => name.endsWith(`-${version}.md`))) continue;
        const name = `${String(kept.length + 1).padStart(4, '0')}-${version}.md`;
        await replaceInside(this.#place, join(folder, name), Buffer.from(text), this.#failpoint);
        kept.push(name);
      }
    } catch (cause) {
      throw diskError(cause, folder);
    }
  }

  async #names(folder: string): Promise<string[]> {
    using opened = folderOf(this.#paths.folder, join(folder, 'any'), this.#onSetAside);
    return await readdir(opened.at('.'));
  }

  get #place(): { base: string; onSetAside: OnSetAside } {
    return { base: this.#paths.folder, onSetAside: this.#onSetAside };
  }
}
