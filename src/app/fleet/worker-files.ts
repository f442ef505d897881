import { join } from 'node:path';
import { unlessAborted } from '../../core/model/unless-aborted.ts';
import type { BundledFile } from '../../fleet/bundle.ts';
import type { SentOrder } from '../../fleet/protocol.ts';
import type { Refused } from '../../fleet/worker/order-run.ts';
import { unpackFiles } from '../../fleet/worker/unpack.ts';
import { removeFolder } from '../../workspace/remove-folder.ts';
import { listFiles, stampOf } from './list-files.ts';

/** How often files that were changed on this machine are unpacked again for one order. */
const MOST_TRIES = 3;
/** Files of another shift are kept for this long after their last use. */
const UNUSED_MS = 60 * 60_000;

/** The verified files of a bundle; or why they are not used. */
export type FetchFiles = (
  sent: SentOrder,
  hash: string,
  signal: AbortSignal,
) => Promise<readonly BundledFile[] | string>;

/** The files of a shift's folder as a worker has them, until it is disposed. */
export interface UsedFiles extends Disposable {
  readonly folder: string;
}

interface UnpackedBundle {
  readonly shift: string;
  readonly folder: string;
  users: number;
  usedAt: number;
  /** How the files were when they were unpacked. */
  readonly stamp: Promise<string | Refused>;
}

/** The bundles that a worker has unpacked, each once, in a folder of its own. */
export class WorkerFiles implements Disposable {
  readonly #folder: string;
  readonly #fetch: FetchFiles;
  readonly #unpacked = new Map<string, UnpackedBundle>();
  readonly #end = new AbortController();
  #count = 0;

  /** `folder`: of this worker, and there. */
  constructor(folder: string, fetch: FetchFiles) {
    this.#folder = folder;
    this.#fetch = fetch;
  }

  /** Throws if the signal aborts. `reason`: why this machine can't have them. */
  async use(sent: SentOrder, hash: string, signal: AbortSignal): Promise<UsedFiles | Refused | { reason: string }> {
    const key = JSON.stringify([sent.shift.key, hash]);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const unpacked = this.#unpacked.get(key) ?? this.#begin(sent, hash, key);
      unpacked.users++;
      const release = () => this.#release(key, unpacked);
      try {
        // Other orders may wait for the same files.
        const stamp = await unlessAborted(unpacked.stamp, signal);
        if (typeof stamp !== 'string') return stamp;
        const { folder } = unpacked;
        // An agent has the same user, and can change or remove the files: they would not be what was signed.
        const now = await stampIn(folder).catch(() => undefined);
        if (now === stamp) return { folder, [Symbol.dispose]: release };
      } catch (error) {
        release();
        throw error;
      }
      if (this.#unpacked.get(key) === unpacked) this.#unpacked.delete(key);
      release();
    }
    return { reason: 'something on this worker keeps changing the files of the shift' };
  }

  /** Outdated files are removed once their last user has finished. */
  #release(key: string, unpacked: UnpackedBundle): void {
    unpacked.users--;
    unpacked.usedAt = performance.now();
    const isReplaced = this.#unpacked.get(key) !== unpacked;
    if (unpacked.users === 0 && isReplaced) void removeFolder(unpacked.folder).catch(() => {});
  }

  #begin(sent: SentOrder, hash: string, key: string): UnpackedBundle {
    const shift = sent.shift.key;
    // Not named after anything in the order: such a path could lead anywhere.
    const folder = join(this.#folder, String(++this.#count));
    const stamp = this.#unpack(sent, hash, folder);
    const unpacked = { shift, folder, users: 0, usedAt: performance.now(), stamp };
    this.#unpacked.set(key, unpacked);
    const forget = () => {
      if (this.#unpacked.get(key) === unpacked) this.#unpacked.delete(key);
    };
    stamp.then((result) => (typeof result === 'string' ? this.#removeOthers(unpacked) : forget()), forget);
    return unpacked;
  }

  async #unpack(sent: SentOrder, hash: string, folder: string): Promise<string | Refused> {
    const files = await this.#fetch(sent, hash, this.#end.signal);
    if (typeof files === 'string') return { refused: files };
    await unpackFiles(files, folder, `${folder}.new`);
    return stampIn(folder);
  }

  /**
   * Older files of the same shift that no order uses, and those of shifts that have probably ended. What can't be removed
   * goes with the worker's folder.
   */
  async #removeOthers({ shift, folder }: UnpackedBundle): Promise<void> {
    const old = performance.now() - UNUSED_MS;
    for (const [key, other] of this.#unpacked) {
      if (other.folder === folder || other.users > 0 || (other.shift !== shift && other.usedAt > old)) continue;
      this.#unpacked.delete(key);
      await removeFolder(other.folder).catch(() => {});
    }
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }
}

async function stampIn(folder: string): Promise<string> {
  return stampOf(await listFiles(folder, () => false));
}
