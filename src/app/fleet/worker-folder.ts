import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { endMarked } from '../../agents/process/leftovers.ts';
import { type Lock, tryLock } from '../../store/folder/files/flock.ts';
import { removeFolder } from '../../workspace/remove-folder.ts';
import { stateFolder } from '../state-folder.ts';
import type { World } from '../world.ts';

const LOCK = '.lock';

interface Removal {
  /** Tells which folder could not be removed. */
  warn(message: string): void;
  /** Removes a folder with all that is in it. */
  remove?(folder: string): Promise<void>;
}

/**
 * The folder in which a worker keeps its own files. It is gone when the worker has ended; that of a worker that was
 * killed is removed by the next one on its machine.
 */
export class WorkerFolder implements AsyncDisposable {
  readonly path: string;
  readonly #lock: Lock;
  readonly #removal: Removal;

  private constructor(path: string, lock: Lock, removal: Removal) {
    this.path = path;
    this.#lock = lock;
    this.#removal = removal;
  }

  static async open(world: Pick<World, 'env'>, id: string, removal: Removal): Promise<WorkerFolder> {
    const all = join(stateFolder(world), 'fleet');
    mkdirSync(all, { recursive: true, mode: 0o700 });
    const path = join(all, id);
    // Lock first: other workers remove folders that nobody has locked.
    const lock = lockNew(`${path}${LOCK}`);
    mkdirSync(path, { mode: 0o700 });
    for (const name of readdirSync(all))
      if (name.endsWith(LOCK)) await removeLeft(join(all, name.slice(0, -LOCK.length)), removal);
    return new WorkerFolder(path, lock, removal);
  }

  /** For files of shifts, each bundle in a folder of its own. */
  get files(): string {
    const folder = join(this.path, 'files');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  /** For private folders of orders. Not below your home: tools look for settings in the folders above. */
  get scratch(): string {
    const folder = scratchOf(this.path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  /** The folder that stands for a shift, whose own folder is elsewhere. Its processes carry it as their mark. */
  shift(key: string): string {
    const folder = join(shiftsIn(this.path), key.replace(/[^\w-]/g, '_'));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await clear(this.path, this.#removal);
    this.#lock[Symbol.dispose]();
  }
}

/** Another worker may take a new lock file for one that was left, and remove it. */
function lockNew(file: string): Lock {
  for (;;) {
    const lock = tryLock(file);
    if (lock && existsSync(file)) return lock;
    lock?.[Symbol.dispose]();
  }
}

function scratchOf(path: string): string {
  return join(tmpdir(), `nightshift-${basename(path)}`);
}

function shiftsIn(path: string): string {
  return join(path, 'shifts');
}

/** Removes the folder of a worker, unless that worker is running. */
async function removeLeft(path: string, removal: Removal): Promise<void> {
  using lock = tryLock(`${path}${LOCK}`);
  if (lock) await clear(path, removal);
}

/** What an agent's container has left may belong to root. The lock file stays then, and the next worker tries again. */
async function clear(path: string, { warn, remove = removeFolder }: Removal): Promise<void> {
  const shifts = shiftsIn(path);
  for (const name of existsSync(shifts) ? readdirSync(shifts) : [])
    await endMarked({ shiftFolder: join(shifts, name) });
  for (const folder of [scratchOf(path), path]) {
    try {
      await remove(folder);
    } catch (error) {
      warn(`${folder} can't be removed: ${error instanceof Error ? error.message : String(error)}. Remove it yourself`);
      return;
    }
  }
  rmSync(`${path}${LOCK}`, { force: true });
}
