import {
  chmodSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FileState, SavedFile } from '../core/model/protection.ts';
import { hashOf, isSameState, type ReadState, readState } from './file-state.ts';

/** Other versions are kept, but must not fill the disk. */
const MOST_KEPT = 200;
const LARGEST_KEPT = 16 * 1024 * 1024;
/** Syncing thousands of files one by one takes long. */
const MOST_SYNCED = 200;

/** Puts protected files back, and keeps the other versions in a folder of their own. There may be thousands. */
export class PutBack {
  readonly #folder: string;
  #kept = 0;
  #number = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns where the other version is kept, if it is. Throws if the file can't be put back. */
  async restore({ path, state }: SavedFile, content: () => Promise<Buffer | undefined>): Promise<string | undefined> {
    const bytes = state.kind === 'file' ? await content() : undefined;
    if (state.kind === 'file' && !bytes) throw new Error('the copy that Nightshift keeps was changed');
    const now = readState(path);
    if (now.state.kind === 'folder' && state.kind === 'folder') {
      chmodSync(path, state.mode);
      return undefined;
    }
    this.#prepare();
    const isOnlyMode = now.state.kind === 'file' && isSameState({ ...now.state, ...modeOf(state) }, state);
    const kept = isOnlyMode ? undefined : this.#keep(path, now, state.kind === 'none');
    if (state.kind === 'none' || state.kind === 'folder') rmSync(path, { force: true, recursive: true });
    if (state.kind === 'folder') mkdirSync(path, { mode: state.mode });
    if (state.kind === 'link') this.#replace(path, (temporary) => symlinkSync(state.target, temporary));
    if (state.kind === 'file') this.#replace(path, (temporary) => this.#write(temporary, bytes!, state.mode));
    return kept;
  }

  /** An agent may have replaced the folder, or the one above, with a link: never write through it. */
  #prepare(): void {
    for (const folder of [dirname(this.#folder), this.#folder]) {
      const found = lstatSync(folder, { throwIfNoEntry: false });
      if (found && !found.isDirectory()) renameSync(folder, `${folder}.put-back-${Date.now()}-${this.#number++}`);
    }
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** What a file can't replace is moved away, and so is an added file that is too large to copy. */
  #keep(path: string, { state: now, content }: ReadState, isAdded: boolean): string | undefined {
    if (now.kind === 'none') return undefined;
    if (now.kind === 'folder' || now.kind === 'other') {
      const place = join(this.#folder, `${Date.now()}-${process.pid}-${this.#number++}-${basename(path)}`);
      renameSync(path, place);
      return place;
    }
    const bytes = now.kind === 'link' ? Buffer.from(`a symbolic link to ${now.target}\n`) : content!;
    const place = join(this.#folder, `${hashOf(bytes).slice(0, 16)}-${basename(path)}`);
    if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) return place;
    const isTooMuch = this.#kept >= MOST_KEPT || bytes.length > LARGEST_KEPT;
    if (isTooMuch && isAdded) renameSync(path, place);
    if (isTooMuch) return isAdded ? place : undefined;
    this.#kept++;
    writeFileSync(place, bytes, { mode: 0o600, flag: 'wx' });
    return place;
  }

  /**
   * Beside the file only if there is no other way, such as on another disk: a check might mistake it for a project
   * file.
   */
  #replace(path: string, make: (temporary: string) => void): void {
    const name = `.${process.pid}-${this.#number++}.nightshift-tmp`;
    const places = [join(this.#folder, name), join(dirname(path), name)];
    for (const place of places) {
      try {
        make(place);
        renameSync(place, path);
        return;
      } catch (error) {
        rmSync(place, { force: true });
        if (place === places.at(-1)) throw error;
      }
    }
  }

  #write(path: string, content: Buffer, mode: number): void {
    const fd = openSync(path, 'wx', 0o600);
    try {
      writeFileSync(fd, content);
      fchmodSync(fd, mode);
      if (this.#number <= MOST_SYNCED) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
}

function modeOf(state: FileState): { mode?: number } {
  return state.kind === 'file' ? { mode: state.mode } : {};
}
