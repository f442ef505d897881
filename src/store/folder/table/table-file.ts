import { constants, lstatSync } from 'node:fs';
import { link, open, rename } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../../../core/model/errors.ts';
import { parseTable, type Table } from '../../../formats/table.ts';
import type { Restoration } from '../../store.ts';
import { diskError, type Failpoint, fingerprint, replaceFile } from '../files/atomic-write.ts';
import { retryPassing } from '../files/retry.ts';

/** How long a file must stay unchanged before an edit is taken: an editor that saves in place writes in pieces. */
const SETTLE_MS = 100;
const SETTLE_AT_MOST_MS = 2000;

/** Never follows a link, which could lead anywhere, and does not wait for a pipe. */
export const READ_ONLY_HERE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** `table.csv` on disk. Its reader and writer hold the lock. */
export class TableFile {
  readonly file: string;
  readonly #failpoint: Failpoint;
  #fingerprint: string | undefined;
  #mode = 0o644;

  constructor(file: string, failpoint: Failpoint) {
    this.file = file;
    this.#failpoint = failpoint;
  }

  /**
   * The result of `interpret` if the table is not the one that this object read or wrote last; else undefined. A
   * table that can't be interpreted counts as not read.
   */
  async readIfChanged<T>(interpret: (table: Table) => T): Promise<T | undefined> {
    if (this.isCurrent()) return undefined;
    let seen = await this.#read();
    if (!seen) return undefined;
    if (this.#fingerprint !== undefined) {
      const end = performance.now() + SETTLE_AT_MOST_MS;
      for (let print = ''; print !== seen.print && performance.now() < end; ) {
        print = seen.print;
        await sleep(SETTLE_MS);
        seen = (await this.#read()) ?? seen;
      }
    }
    const interpreted = interpret(parseTable(seen.bytes, this.file));
    this.#fingerprint = seen.print;
    this.#mode = seen.mode;
    return interpreted;
  }

  /** The bytes of the file as it is, for a reader that needs the lock no longer than that. */
  async readBytes(): Promise<Buffer> {
    return (await this.#read())!.bytes;
  }

  /** False if an editor without the lock has saved the file since it was read. Nothing was written; read it again. */
  async write(table: Table): Promise<boolean> {
    const written = await replaceFile(this.file, table.pieces(), this.#mode, this.#failpoint, () => this.isCurrent());
    if (written === undefined) return false;
    this.#fingerprint = written;
    return true;
  }

  /** Replaces a table that can't be read, and keeps that beside. */
  async restore(table: Table): Promise<Restoration> {
    const kept = this.nameBeside();
    try {
      // A second name for it: a failure after this leaves everything as it was. A folder can't have one.
      if (lstatSync(this.file, { throwIfNoEntry: false }) === undefined) return await this.#replace(table, {});
      await link(this.file, kept).catch(() => rename(this.file, kept));
    } catch (cause) {
      throw diskError(cause, this.file);
    }
    return this.#replace(table, { kept });
  }

  async #replace(table: Table, restored: Restoration): Promise<Restoration> {
    this.#fingerprint = await replaceFile(this.file, table.pieces(), this.#mode, this.#failpoint);
    return restored;
  }

  /** A name for another version of the table. */
  nameBeside(): string {
    return `${this.file}.put-back-${new Date().toISOString().replace(/[:.]/g, '')}`;
  }

  /** Whether the file is still the one that this object read or wrote last. */
  isCurrent(): boolean {
    try {
      return fingerprint(lstatSync(this.file, { bigint: true })) === this.#fingerprint;
    } catch {
      return false;
    }
  }

  async #read(): Promise<{ bytes: Buffer; print: string; mode: number } | undefined> {
    try {
      const handle = await retryPassing(() => open(this.file, READ_ONLY_HERE));
      try {
        const stats = await handle.stat({ bigint: true });
        if (!stats.isFile()) throw notAFile(stats.isDirectory(), this.file);
        const print = fingerprint(stats);
        if (print === this.#fingerprint) return undefined;
        return { bytes: await handle.readFile(), print, mode: Number(stats.mode & 0o777n) };
      } finally {
        await handle.close();
      }
    } catch (cause) {
      throw readError(cause, this.file);
    }
  }
}

/** Rule F6: half of a save, or a mistake. Nobody ends a run by removing all items. */
export function allRowsGone(file: string): NightshiftError {
  const hint = 'put the rows back, or end the run with `nightshift stop`';
  return new NightshiftError('bad-table', 'all rows are gone from the table', hint, { file, line: 1 });
}

export function notAFile(isFolder: boolean, file: string): NightshiftError {
  const message = `${file} is ${isFolder ? 'a folder' : 'not a file'}`;
  return new NightshiftError('bad-folder', message, 'there must be a file of that name', { file });
}

export function readError(cause: unknown, file: string): unknown {
  const place = { file };
  switch ((cause as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return new NightshiftError(
        'not-found',
        `${file} is missing`,
        'check the name and the folder, or restore it',
        place,
      );
    case 'ELOOP':
      return new NightshiftError(
        'bad-folder',
        `${file} is a symbolic link`,
        'put the file itself into the shift folder',
        place,
      );
    case 'EISDIR':
      return notAFile(true, file);
    // A socket.
    case 'ENXIO':
      return notAFile(false, file);
    case 'EACCES':
      return new NightshiftError(
        'bad-folder',
        `no permission to read ${file}`,
        'make it readable for this user',
        place,
      );
    default:
      return diskError(cause, file);
  }
}
