import { mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Empty folders of orders that have ended. To make one and remove it again waits for the disk, with every item. */
const spare: string[] = [];
let orders = 0;

/** Folders that could not be removed when their order had ended: for want of descriptors, say. */
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

/** A private folder for one order, and for the next one when this has left nothing in it. */
export class Scratch implements AsyncDisposable {
  readonly folder: string;
  readonly #order = ++orders;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Throws what the system said. */
  static take(): Scratch {
    for (let folder = spare.pop(); folder !== undefined; folder = spare.pop()) {
      if (isEmpty(folder)) return new Scratch(folder);
      unremoved.push(folder);
    }
    return new Scratch(mkdtempSync(join(tmpdir(), 'nightshift-')));
  }

  /** A name that no other order was given: what an earlier one left running may still write to its own. */
  outputFile(attempt: number): string {
    return join(this.folder, `output-${this.#order}-${attempt}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (isEmpty(this.folder)) spare.push(this.folder);
    else await rm(this.folder, { recursive: true, force: true }).catch(() => void unremoved.push(this.folder));
  }
}

/** Or what the system said. */
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
