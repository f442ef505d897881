import { appendFile, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TranscriptHappening } from '../core/events.ts';
import type { ShiftPaths } from './layout.ts';

/** An agent that floods its output fills neither the memory nor the disk. */
const MOST_BYTES = 10 * 1024 * 1024;
/** Soon enough for who reads along, and a short session is one write. */
const SOON_MS = 50;

/** What was said in each session, one file for each item-task and role, JSON lines, readable while it runs. */
export class Transcripts implements AsyncDisposable {
  readonly #paths: ShiftPaths;
  readonly #now: () => number;
  readonly #open = new Map<string, Transcript>();
  /** Of sessions that are over: what is still on its way to the disk. */
  readonly #closing = new Set<Promise<void>>();

  constructor(paths: ShiftPaths, now: () => number) {
    this.#paths = paths;
    this.#now = now;
  }

  add({ task = '', key, role, attempt, entry }: TranscriptHappening): void {
    const file = this.#paths.transcript(task, key, role);
    let transcript = this.#open.get(file);
    if (!transcript) {
      makeFolder(dirname(file));
      transcript = new Transcript(file);
      this.#open.set(file, transcript);
    }
    if (transcript.bytes > MOST_BYTES) return;
    const length = 'text' in entry ? entry.text.length : 0;
    const cut = transcript.bytes + length > MOST_BYTES;
    const said = cut ? { kind: 'note', text: 'more was said; this transcript ends at 10 MB' } : entry;
    transcript.bytes += cut ? MOST_BYTES + 1 : length;
    const at = new Date(this.#now()).toISOString();
    transcript.add(`${JSON.stringify({ at, role, attempt, ...said })}\n`);
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
  /** How much was said, written or not. */
  bytes = 0;
  readonly #file: string;
  #waiting: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
  }

  add(line: string): void {
    this.#waiting.push(line);
    this.#timer ??= setTimeout(() => void this.write(), SOON_MS);
  }

  /** Resolves when all that was said so far is written, or can't be. */
  write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#written = this.#written.then(() => this.#append());
    return this.#written;
  }

  /** History only: a disk that has no room for it shows at the next write of the table. */
  #append(): Promise<void> {
    const lines = this.#waiting.join('');
    this.#waiting = [];
    return new Promise((resolve) => {
      if (lines === '') resolve();
      else appendFile(this.#file, lines, { mode: 0o600 }, () => resolve());
    });
  }
}

/** A folder that can't be made shows like a full disk: at the next write of the table. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {}
}
