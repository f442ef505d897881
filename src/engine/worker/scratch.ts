import { mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Empty folders of finished orders, for reuse: making and removing one for every item waits for the disk. */
const spare: string[] = [];
let orders = 0;

/** Folders that could not be removed when their order ended, for lack of descriptors for example. */
const unremoved: string[] = [];

process.once('exit', () => {
  for (const folder of spare.splice(0)) ignoring(() => rmdirSync(folder));
  for (const folder of unremoved.splice(0)) ignoring(() => rmSync(folder, { recursive: true, force: true }));
});

function ignoring(work: () => void): void {
  try {
    work();
  } catch {}
}

/** A private folder for one order. The next order reuses it if it is empty. */
export class Scratch implements AsyncDisposable {
  readonly folder: string;
  readonly #order = ++orders;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Throws the error of the system. */
  static take(): Scratch {
    for (let folder = spare.pop(); folder !== undefined; folder = spare.pop()) {
      if (isEmpty(folder)) return new Scratch(folder);
      unremoved.push(folder);
    }
    return new Scratch(mkdtempSync(join(tmpdir(), 'nightshift-')));
  }

  /** A name that no other order has: processes left by an earlier one may still write to theirs. */
  outputFile(attempt: number): string {
    return join(this.folder, `output-${this.#order}-${attempt}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (isEmpty(this.folder)) spare.push(this.folder);
    else await rm(this.folder, { recursive: true, force: true }).catch(() => void unremoved.push(this.folder));
  }
}

/** Returns the error of the system, if any. */
export function takeScratch(): Scratch | NodeJS.ErrnoException {
  try {
    return Scratch.take();
  } catch (cause) {
    return cause as NodeJS.ErrnoException;
  }
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}
