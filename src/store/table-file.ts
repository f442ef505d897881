import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../core/errors.ts';
import { parseTable, type Table } from '../formats/table.ts';
import { diskError, type Failpoint, fingerprint, replaceFile } from './atomic-write.ts';

/** How long a file must keep still before an outside edit is taken: an editor that saves in place writes in pieces. */
const SETTLE_MS = 100;
const SETTLE_AT_MOST_MS = 2000;

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
   * What `interpret` makes of the table, if it is not the one that this object read or wrote last; else undefined.
   * A table that can't be interpreted counts as not read.
   */
  async readIfChanged<T>(interpret: (table: Table) => T): Promise<T | undefined> {
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

  /** False: somebody who does not know of the lock has saved the file since it was read. Nothing was written; read it again. */
  async write(table: Table): Promise<boolean> {
    const isCurrent = async () => {
      const found = await stat(this.file, { bigint: true }).catch(() => undefined);
      return found !== undefined && fingerprint(found) === this.#fingerprint;
    };
    const written = await replaceFile(this.file, table.bytes, this.#mode, this.#failpoint, isCurrent);
    if (written === undefined) return false;
    this.#fingerprint = written;
    return true;
  }

  async #read(): Promise<{ bytes: Buffer; print: string; mode: number } | undefined> {
    try {
      const handle = await open(this.file, constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        const stats = await handle.stat({ bigint: true });
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

export function readError(cause: unknown, file: string): unknown {
  const place = { file };
  switch ((cause as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return new NightshiftError('not-found', `${file} is missing`, 'restore it, or create the shift anew', place);
    case 'ELOOP':
      return new NightshiftError(
        'bad-folder',
        `${file} is a symbolic link`,
        'put the file itself into the shift folder',
        place,
      );
    case 'EISDIR':
      return new NightshiftError('bad-folder', `${file} is a folder`, 'there must be a file of that name', place);
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
