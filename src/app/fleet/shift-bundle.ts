import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { NightshiftError } from '../../core/model/errors.ts';
import type { Shift } from '../../core/model/shift.ts';
import { createMask } from '../../core/text/mask.ts';
import { type Bundle, type BundledFile, LARGEST_BUNDLE, packFiles } from '../../fleet/bundle.ts';
import type { FilesOfShift } from '../../fleet/coordinator/order-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { isOwnFile } from '../../store/folder/own-files.ts';
import { readError } from '../../store/folder/table/table-file.ts';
import { type ListedFile, listFiles, stampOf } from './list-files.ts';

/** Orders may be made many times a second. */
const LOOK_EVERY_MS = 1000;
/** How many characters are searched for secrets at once. */
const PART = 256 * 1024;

export interface BundleMeans {
  readonly paths: ShiftPaths;
  /** The names of the tasks as they are now. */
  tasks(): readonly string[];
  secrets(): Shift['secrets'];
  warn(message: string): void;
}

/** The author's files in the shift's folder. Throws if they are too large, or one of them can't be read. */
export async function filesToTravel(paths: ShiftPaths, tasks: readonly string[]): Promise<ListedFile[]> {
  const files = await listFiles(paths.folder, (path) => isOwnFile(paths, tasks, path));
  const size = files.reduce((sum, file) => sum + file.size + Buffer.byteLength(file.path), 0);
  if (size > LARGEST_BUNDLE) throw tooLarge(paths, files, size);
  return files;
}

/** The files of the shift's folder that travel to workers, packed again when one of them has changed. */
export class ShiftBundle implements FilesOfShift {
  readonly #means: BundleMeans;
  readonly #warned = new Set<string>();
  #last: Bundle | undefined;
  /** Of the files and secrets that the last bundle was made from. */
  #stamp: string | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<Bundle> | undefined;
  #isWarned = false;

  constructor(means: BundleMeans) {
    this.#means = means;
  }

  async latest(): Promise<Bundle> {
    if (this.#last && performance.now() - this.#lookedAt < LOOK_EVERY_MS) return this.#last;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<Bundle> {
    this.#lookedAt = performance.now();
    try {
      this.#last = await this.#pack();
      this.#isWarned = false;
    } catch (error) {
      if (!(error instanceof NightshiftError) || !this.#last) throw error;
      const message = `${error.message}; workers get the files of the shift's folder as they were before`;
      if (!this.#isWarned) this.#means.warn(message);
      this.#isWarned = true;
    }
    return this.#last;
  }

  async #pack(): Promise<Bundle> {
    const { paths, tasks, secrets } = this.#means;
    const files = await filesToTravel(paths, tasks());
    // A value that has become a secret since must no longer travel.
    const stamp = `${stampOf(files)}\n${JSON.stringify(secrets())}`;
    if (this.#last && stamp === this.#stamp) return this.#last;
    const read: BundledFile[] = [];
    for (const { path, file, isProgram } of files) {
      const bytes = await bytesOf(file);
      if (bytes !== undefined && (await this.#mayTravel(path, bytes))) read.push({ path, isProgram, bytes });
    }
    const bundle = await packFiles(read);
    this.#stamp = stamp;
    return bundle;
  }

  async #mayTravel(path: string, bytes: Buffer): Promise<boolean> {
    if (!(await hasSecret(bytes.toString(), this.#means.secrets()))) return true;
    if (!this.#warned.has(path)) {
      this.#means.warn(`workers don't get ${path} from the shift's folder: it contains a secret from .env`);
    }
    this.#warned.add(path);
    return false;
  }
}

/** In parts: megabytes take seconds, and the run has other things to do meanwhile. */
async function hasSecret(text: string, secrets: Shift['secrets']): Promise<boolean> {
  const masking = createMask(secrets).stream();
  let shown = '';
  for (let at = 0; at < text.length; at += PART) {
    shown += masking.push(text.slice(at, at + PART));
    await setImmediate();
  }
  return shown + masking.end() !== text;
}

/** Undefined: it was removed meanwhile, or replaced by something else. */
async function bytesOf(file: string): Promise<Buffer | undefined> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return (await handle.stat()).isFile() ? await handle.readFile() : undefined;
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) return undefined;
    throw readError(cause, file);
  }
}

function tooLarge({ folder, name }: ShiftPaths, files: readonly ListedFile[], size: number): NightshiftError {
  const largest = files.reduce((most, file) => (file.size > most.size ? file : most));
  return new NightshiftError(
    'bad-folder',
    `the files in the folder of ${name} are ${megabytes(size)}; workers can get up to ${megabytes(LARGEST_BUNDLE)}`,
    `move files that the tasks don't use elsewhere; the largest is ${largest.path} (${megabytes(largest.size)})`,
    { file: folder },
  );
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`;
}
