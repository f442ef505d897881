import { lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { notAFile, READ_ONLY_HERE, readError } from '../table/table-file.ts';
import { fileId } from './journal-reader.ts';

const MOST_BYTES = 1024 * 1024;

/** Reads whole lines of a file that others append to. If it is replaced, reads the new file after the old one. */
export class LineFollower implements AsyncDisposable {
  readonly #file: string;
  #handle: FileHandle | undefined;
  #id = '';
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(file: string) {
    this.#file = file;
  }

  /** Lines added since the last call, at most about a megabyte. None if there are none, or no such file. */
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
    try {
      if (!this.#handle) await this.#open();
      // Checked first: what was written before the file was replaced is still read below.
      const isReplaced = this.#handle !== undefined && this.#isReplaced();
      const chunk = await this.#more();
      if (chunk.length > 0 || !isReplaced) return chunk;
      await this.#close();
      await this.#open();
      return await this.#more();
    } catch (error) {
      throw readError(error, this.#file);
    }
  }

  async #open(): Promise<void> {
    this.#handle = await open(this.#file, READ_ONLY_HERE).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
    if (!this.#handle) return;
    const stats = await this.#handle.stat();
    if (!stats.isFile()) throw notAFile(stats.isDirectory(), this.#file);
    this.#id = fileId(stats);
  }

  #isReplaced(): boolean {
    try {
      const found = lstatSync(this.#file, { throwIfNoEntry: false });
      return found !== undefined && fileId(found) !== this.#id;
    } catch {
      return false;
    }
  }

  async #more(): Promise<Buffer> {
    if (!this.#handle) return Buffer.alloc(0);
    const { size } = await this.#handle.stat();
    // The file was cut.
    if (size < this.#offset) [this.#offset, this.#rest] = [0, Buffer.alloc(0)];
    const buffer = Buffer.alloc(Math.min(MOST_BYTES, size - this.#offset));
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.#offset);
    this.#offset += bytesRead;
    return buffer.subarray(0, bytesRead);
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    [this.#offset, this.#rest] = [0, Buffer.alloc(0)];
    await handle?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
