import { randomBytes } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import {
  type ControlRequests,
  type ControlState,
  parseRequests,
  parseState,
  withoutPause,
  withPause,
  withStop,
} from '../../core/model/control.ts';
import { lockWithin } from './files/flock.ts';
import { folderOf, replaceInside } from './files/inside.ts';
import { readHere } from './files/read-here.ts';
import type { ShiftPaths } from './layout.ts';

/** A request takes effect within a second, with the time that it takes to read it. */
const LOOK_EVERY_MS = 250;
const LOCK_WAIT_MS = 5000;

/** How another process asks something of a run, and reads its answer: two small files in the shift's folder. */
export class ControlFile {
  readonly #paths: ShiftPaths;

  constructor(paths: ShiftPaths) {
    this.#paths = paths;
  }

  /** What is asked for; undefined if the file is damaged. */
  requests(): ControlRequests | undefined {
    const text = readIfThere(this.#paths.control);
    return text === undefined ? {} : parseRequests(text);
  }

  /** What the latest run obeys; that may be one that has ended. */
  state(): ControlState | undefined {
    const text = readIfThere(this.#paths.controlState);
    return text === undefined ? undefined : parseState(text);
  }

  async stop(run: string, how: { readonly now: boolean; readonly leave: boolean }, at: string): Promise<void> {
    const { now, leave } = how;
    await this.#change((requests) => withStop(requests, { ...newRequest(now, at), run, ...(leave && { leave }) }));
  }

  async pause(now: boolean, at: string): Promise<void> {
    await this.#change((requests) => withPause(requests, newRequest(now, at)));
  }

  async resume(): Promise<void> {
    await this.#change(withoutPause);
  }

  /** The answer of a run. Not synced: it is of no use after a power cut. */
  async answer(state: ControlState): Promise<void> {
    await replaceInside({ base: this.#paths.folder }, this.#paths.controlState, Buffer.from(JSON.stringify(state)));
  }

  /** Calls back when the requests have changed, and first with those that are there. */
  watch(onRequests: (requests: ControlRequests) => void): Disposable {
    let seen = '';
    const look = () => {
      const stamp = stampOf(this.#paths.control);
      if (stamp === seen) return;
      const requests = this.requests();
      // Damaged: what was asked for before stands, and the next look tells more.
      if (!requests) return;
      seen = stamp;
      onRequests(requests);
    };
    look();
    const timer = setInterval(look, LOOK_EVERY_MS);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  async #change(change: (requests: ControlRequests) => ControlRequests): Promise<void> {
    const { folder, control } = this.#paths;
    folderOf(folder, control)[Symbol.dispose]();
    using _lock = await lockWithin(`${control}.lock`, LOCK_WAIT_MS);
    const before = this.requests() ?? {};
    const after = change(before);
    if (after === before) return;
    if (Object.keys(after).length === 0) rmSync(control, { force: true });
    else await replaceInside({ base: folder }, control, Buffer.from(JSON.stringify(after)));
  }
}

function newRequest(now: boolean, at: string) {
  return { id: randomBytes(6).toString('hex'), at, pid: process.pid, now };
}

function readIfThere(file: string): string | undefined {
  try {
    return readHere(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    return '';
  }
}

/** Which version of a file is there. */
function stampOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true });
  return found ? `${found.ino} ${found.mtimeNs} ${found.size}` : 'none';
}
