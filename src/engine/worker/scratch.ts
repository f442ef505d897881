import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

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

/** Where orders get their private folders, and how these are removed. */
export interface ScratchPlace {
  readonly folder: string;
  /** Also what an agent has made read-only. */
  remove(folder: string): Promise<void>;
}

function systemPlace(): ScratchPlace {
  return { folder: tmpdir(), remove: (folder) => rm(folder, { recursive: true, force: true }) };
}

/** A private folder for one order. The next order reuses it if it is empty. */
export class Scratch implements AsyncDisposable {
  readonly folder: string;
  readonly #place: ScratchPlace;
  readonly #order = ++orders;

  private constructor(folder: string, place: ScratchPlace) {
    this.folder = folder;
    this.#place = place;
  }

  /** Throws the error of the system. */
  static take(place = systemPlace()): Scratch {
    for (let folder = spare.pop(); folder !== undefined; folder = spare.pop()) {
      if (dirname(folder) === place.folder && isEmpty(folder)) return new Scratch(folder, place);
      unremoved.push(folder);
    }
    // Cleaners of temporary folders may have removed it.
    mkdirSync(place.folder, { recursive: true, mode: 0o700 });
    return new Scratch(mkdtempSync(join(place.folder, 'nightshift-')), place);
  }

  /** A name that no other order has: processes left by an earlier one may still write to theirs. */
  outputFile(attempt: number): string {
    return join(this.folder, `output-${this.#order}-${attempt}`);
  }

  /** For an order that works in no folder of yours. It stays the same until the order has ended. */
  emptyFolder(): string {
    const folder = join(this.folder, 'work');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (isEmpty(this.folder)) spare.push(this.folder);
    else await this.#place.remove(this.folder).catch(() => void unremoved.push(this.folder));
  }
}

/** Returns the error of the system, if any. */
export function takeScratch(place?: ScratchPlace): Scratch | NodeJS.ErrnoException {
  try {
    return Scratch.take(place);
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
