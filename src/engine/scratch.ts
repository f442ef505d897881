import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Empty folders of orders that have ended. To make one and remove it again waits for the disk, with every item. */
const spare: string[] = [];
let orders = 0;

process.once('exit', () => {
  for (const folder of spare.splice(0)) {
    try {
      rmdirSync(folder);
    } catch {}
  }
});

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
    }
    return new Scratch(mkdtempSync(join(tmpdir(), 'nightshift-')));
  }

  /** A name that no other order was given: what an earlier one left running may still write to its own. */
  outputFile(attempt: number): string {
    return join(this.folder, `output-${this.#order}-${attempt}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!isEmpty(this.folder)) return rm(this.folder, { recursive: true, force: true });
    spare.push(this.folder);
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
