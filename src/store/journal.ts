import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { isReadable } from '../core/event-shape.ts';
import type { NightshiftEvent } from '../core/events.ts';
import { Together } from '../core/together.ts';
import { diskError } from './atomic-write.ts';
import { readError } from './table-file.ts';

/** Events come in bursts: those of a moment go out in one write. */
const SOON_MS = 10;
/** What nobody waits for would survive a power cut after this time. */
const SYNC_WITHIN_MS = 1000;

/**
 * History, one event on a line. It is appended to and read, never replayed into the table: losing it loses reasons and
 * recommendations, no status. Several processes may append (a run, `table edit`): each line goes out in one write.
 */
export class Journal implements AsyncDisposable {
  readonly file: string;
  readonly #handle: FileHandle;
  #waiting: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #syncTimer: NodeJS.Timeout | undefined;
  #tail: Promise<void> = Promise.resolve();
  #failure: unknown;
  readonly #syncing = new Together(() => this.#sync());

  private constructor(file: string, handle: FileHandle) {
    this.file = file;
    this.#handle = handle;
  }

  static async open(file: string): Promise<Journal> {
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      const flags = constants.O_CREAT | constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW;
      const handle = await open(file, flags, 0o600);
      const journal = new Journal(file, handle);
      await journal.#endTornLine();
      return journal;
    } catch (cause) {
      throw diskError(cause, file);
    }
  }

  /** A crash may have left half a line; what follows must not be glued to it. */
  async #endTornLine(): Promise<void> {
    const { size } = await this.#handle.stat();
    if (size === 0) return;
    const last = Buffer.alloc(1);
    await this.#handle.read(last, 0, 1, size - 1);
    if (last[0] !== 0x0a) await this.#handle.appendFile('\n');
  }

  /** Appends soon; a failure shows at the next flush or check. */
  append(event: object): void {
    this.#waiting.push(`${JSON.stringify(event)}\n`);
    this.#timer ??= setTimeout(() => void this.#writeSoon(), SOON_MS);
  }

  #writeSoon(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tail = this.#tail.then(() => this.#write());
    return this.#tail;
  }

  async #write(): Promise<void> {
    const lines = this.#waiting.join('');
    this.#waiting = [];
    if (lines === '' || this.#failure) return;
    try {
      await this.#handle.appendFile(lines);
      this.#syncTimer ??= setTimeout(() => void this.flush().catch(() => {}), SYNC_WITHIN_MS);
    } catch (cause) {
      this.#failure = diskError(cause, this.file);
    }
  }

  /** Resolves when everything appended so far would survive a power cut. Those who wait together share one sync. */
  flush(): Promise<void> {
    return this.#syncing.done();
  }

  async #sync(): Promise<void> {
    await this.#writeSoon();
    clearTimeout(this.#syncTimer);
    this.#syncTimer = undefined;
    this.check();
    try {
      await this.#handle.datasync();
    } catch (cause) {
      // The system tells it once: the next sync would succeed without what was lost.
      this.#failure = diskError(cause, this.file);
    }
    this.check();
  }

  /** Throws what went wrong with something that was appended before, if anything did. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush().catch(() => {});
    await this.#handle.close();
  }
}

/** Reads the events from a byte offset on; half lines and lines that are no events are passed over. */
export async function* readJournal(file: string, from = 0): AsyncGenerator<NightshiftEvent> {
  const stream = createReadStream(file, { start: from, encoding: 'utf8' });
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (!line.startsWith('{')) continue;
      try {
        const event: unknown = JSON.parse(line);
        if (isReadable(event)) yield event;
      } catch {}
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw readError(error, file);
  } finally {
    stream.destroy();
  }
}

export async function journalSize(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
