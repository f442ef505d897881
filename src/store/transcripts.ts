import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import type { TranscriptHappening } from '../core/events.ts';
import type { ShiftPaths } from './layout.ts';

/** An agent that floods its output fills neither the memory nor the disk. */
const MOST_BYTES = 10 * 1024 * 1024;

/** What was said in each session, one file for each item-task and role, JSON lines, readable while it runs. */
export class Transcripts implements AsyncDisposable {
  readonly #paths: ShiftPaths;
  readonly #now: () => number;
  readonly #open = new Map<string, { stream: WriteStream; bytes: number }>();

  constructor(paths: ShiftPaths, now: () => number) {
    this.#paths = paths;
    this.#now = now;
  }

  add({ task = '', key, role, attempt, entry }: TranscriptHappening): void {
    const file = this.#paths.transcript(task, key, role);
    let transcript = this.#open.get(file);
    if (!transcript) {
      makeFolder(dirname(file));
      const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
      // History only: a disk that has no room for it shows at the next write of the table.
      stream.on('error', () => {});
      transcript = { stream, bytes: 0 };
      this.#open.set(file, transcript);
    }
    if (transcript.bytes > MOST_BYTES) return;
    const length = 'text' in entry ? entry.text.length : 0;
    const cut = transcript.bytes + length > MOST_BYTES;
    const said = cut ? { kind: 'note', text: 'more was said; this transcript ends at 10 MB' } : entry;
    transcript.bytes += cut ? MOST_BYTES + 1 : length;
    const at = new Date(this.#now()).toISOString();
    transcript.stream.write(`${JSON.stringify({ at, role, attempt, ...said })}\n`);
  }

  /** The session is over. */
  close(task: string, key: string, role: string): void {
    const file = this.#paths.transcript(task, key, role);
    this.#open.get(file)?.stream.end();
    this.#open.delete(file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const streams = [...this.#open.values()].map(({ stream }) => stream);
    this.#open.clear();
    await Promise.all(streams.map((stream) => finished(stream.end()).catch(() => {})));
  }
}

/** A folder that can't be made shows like a full disk: at the next write of the table. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {}
}
