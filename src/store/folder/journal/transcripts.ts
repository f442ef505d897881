import * as fs from 'node:fs';
import { closeSync, constants } from 'node:fs';
import { promisify } from 'node:util';
import type { TranscriptHappening } from '../../../core/model/events.ts';
import { type OnSetAside, openInside } from '../files/inside.ts';
import { retryPassing } from '../files/retry.ts';
import type { ShiftPaths } from '../layout.ts';

/** An agent that floods its output fills neither the memory nor the disk. */
const MOST_BYTES = 10 * 1024 * 1024;
/** Soon enough for readers, and a short session takes one write. */
const SOON_MS = 50;

const write = promisify(fs.appendFile);

/** Transcripts of sessions: one file for each item-task and role, JSON lines, readable while it runs. */
export class Transcripts implements AsyncDisposable {
  readonly #paths: ShiftPaths;
  readonly #now: () => number;
  readonly #onSetAside: OnSetAside;
  readonly #open = new Map<string, Transcript>();
  /** Data of ended sessions that is not on disk yet. */
  readonly #closing = new Set<Promise<void>>();

  constructor(paths: ShiftPaths, now: () => number, onSetAside: OnSetAside = () => {}) {
    this.#paths = paths;
    this.#now = now;
    this.#onSetAside = onSetAside;
  }

  add({ task = '', key, role, attempt, worker, order, n, entry }: TranscriptHappening): void {
    const file = this.#paths.transcript(task, key, role);
    let transcript = this.#open.get(file);
    if (!transcript) {
      transcript = new Transcript(() => this.#openFile(file));
      this.#open.set(file, transcript);
    }
    if (transcript.bytes > MOST_BYTES) return;
    const length = 'text' in entry ? entry.text.length : 0;
    const cut = transcript.bytes + length > MOST_BYTES;
    const said = cut ? { kind: 'note', text: 'this transcript is cut at 10 MB' } : entry;
    transcript.bytes += cut ? MOST_BYTES + 1 : length;
    const at = new Date(this.#now()).toISOString();
    transcript.add(`${JSON.stringify({ at, role, attempt, worker, order, n, ...said })}\n`);
  }

  /** Opened by name each time: the file may have been removed, or a folder replaced with a link. */
  #openFile(file: string): number {
    return openInside(this.#paths.folder, file, constants.O_WRONLY | constants.O_APPEND, this.#onSetAside);
  }

  /** The session is over. */
  close(task: string, key: string, role: string): void {
    this.#close(this.#paths.transcript(task, key, role));
  }

  #close(file: string): void {
    const written = this.#open.get(file)?.write();
    this.#open.delete(file);
    if (!written) return;
    this.#closing.add(written);
    void written.then(() => this.#closing.delete(written));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const file of this.#open.keys()) this.#close(file);
    await Promise.all(this.#closing);
  }
}

class Transcript {
  /** The size of what was said, written or not. */
  bytes = 0;
  readonly #openFile: () => number;
  #waiting: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(openFile: () => number) {
    this.#openFile = openFile;
  }

  add(line: string): void {
    this.#waiting.push(line);
    this.#timer ??= setTimeout(() => void this.write(), SOON_MS);
  }

  /** Resolves when everything said so far is written, or can't be. */
  write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#written = this.#written.then(() => this.#append());
    return this.#written;
  }

  /** History only: a full disk shows at the next write of the table. */
  async #append(): Promise<void> {
    const lines = this.#waiting.join('');
    this.#waiting = [];
    if (lines === '') return;
    try {
      const fd = await retryPassing(this.#openFile);
      await write(fd, lines).finally(() => closeSync(fd));
    } catch {}
  }
}
