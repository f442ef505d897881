import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { lockOpen } from '../files/flock.ts';
import { retryPassing } from '../files/retry.ts';
import { notAFile } from '../table/table-file.ts';
import { fileId, type ReadOptions, valuesIn } from './journal-reader.ts';

/** Enough to tell that a file was emptied and filled again. */
const TAIL_BYTES = 64;
const { O_RDWR, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;

/** One file of the journal, open for appending, and its last known state. */
export class JournalFile {
  readonly id: string;
  readonly #path: string;
  readonly #handle: FileHandle;
  #lock: Disposable | undefined;
  /** Its state when it was last read or written here. */
  #known: { size: number; mtimeNs: bigint; tail: Buffer } = { size: 0, mtimeNs: 0n, tail: Buffer.alloc(0) };

  private constructor(path: string, handle: FileHandle, id: string) {
    this.#path = path;
    this.#handle = handle;
    this.id = id;
  }

  /** `at`: how it is opened; `path`: its name in messages. Never follows a link, and does not wait for a pipe. */
  static async open(at: string, path: string, flags: number): Promise<JournalFile> {
    const all = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | flags;
    const handle = await retryPassing(() => open(at, all, 0o600));
    const stats = await handle.stat();
    if (stats.isFile()) return new JournalFile(path, handle, fileId(stats));
    await handle.close();
    throw notAFile(stats.isDirectory(), path);
  }

  get size(): number {
    return this.#known.size;
  }

  /** Exclusive among the processes that append. Closing the file releases it. */
  async lock(): Promise<void> {
    this.#lock ??= await lockOpen(this.#handle.fd, this.#path);
  }

  unlock(): void {
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }

  values(options: ReadOptions): ReturnType<typeof valuesIn> {
    return valuesIn(this.#handle, options);
  }

  /** What happened to it since the last known state. `damaged`: what we wrote is gone. */
  async compare(): Promise<'same' | 'grown' | 'damaged'> {
    const { size, mtimeNs } = await this.#stat();
    const { size: before, mtimeNs: at, tail } = this.#known;
    if (size === before && mtimeNs === at) return 'same';
    if (size < before || !tail.equals(await this.#tailAt(before))) return 'damaged';
    return size > before ? 'grown' : 'same';
  }

  /** Takes the file as it is. */
  async know(): Promise<void> {
    const { size, mtimeNs } = await this.#stat();
    this.#known = { size, mtimeNs, tail: await this.#tailAt(size) };
  }

  /** Appends whole lines in one write. The caller holds the lock and knows the current state. */
  async append(lines: string): Promise<void> {
    const endsLine = this.size === 0 || this.#known.tail.at(-1) === 0x0a;
    let bytes: Buffer = Buffer.from(endsLine ? lines : `\n${lines}`);
    while (bytes.length > 0) {
      const rest = bytes;
      // Decided here, where it is known what was written: nothing else could repeat it.
      const { bytesWritten } = await retryPassing(() => this.#handle.write(rest));
      if (bytesWritten === 0) throw Object.assign(new Error('nothing more could be written'), { code: 'ENOSPC' });
      bytes = bytes.subarray(bytesWritten);
    }
    await retryPassing(() => this.know());
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  close(): Promise<void> {
    this.unlock();
    return this.#handle.close();
  }

  async #stat(): Promise<{ size: number; mtimeNs: bigint }> {
    const { size, mtimeNs } = await this.#handle.stat({ bigint: true });
    return { size: Number(size), mtimeNs };
  }

  async #tailAt(end: number): Promise<Buffer> {
    const tail = Buffer.alloc(Math.min(TAIL_BYTES, end));
    const { bytesRead } = await this.#handle.read(tail, 0, tail.length, end - tail.length);
    return tail.subarray(0, bytesRead);
  }
}
