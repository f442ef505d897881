import { type FileHandle, open } from 'node:fs/promises';
import { readError } from './table-file.ts';

const MOST_BYTES = 1024 * 1024;

/** Reads a file that others append to, whole lines at a time. */
export class LineFollower {
  readonly #file: string;
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(file: string) {
    this.#file = file;
  }

  /** Lines that were added since the last call, at most about a megabyte; none if there are none, or no such file. */
  async read(): Promise<string[]> {
    for (;;) {
      const chunk = await this.#chunk();
      if (chunk.length === 0) return [];
      const bytes = Buffer.concat([this.#rest, chunk]);
      const end = bytes.lastIndexOf(0x0a);
      this.#rest = bytes.subarray(end + 1);
      if (end >= 0) return bytes.subarray(0, end).toString('utf8').split('\n');
    }
  }

  async #chunk(): Promise<Buffer> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(this.#file, 'r');
      const { size } = await handle.stat();
      // Somebody put another file in its place.
      if (size < this.#offset) [this.#offset, this.#rest] = [0, Buffer.alloc(0)];
      const buffer = Buffer.alloc(Math.min(MOST_BYTES, size - this.#offset));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.#offset);
      this.#offset += bytesRead;
      return buffer.subarray(0, bytesRead);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
      throw readError(error, this.#file);
    } finally {
      await handle?.close();
    }
  }
}
