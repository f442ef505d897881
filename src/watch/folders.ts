import { realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { FolderChanges, FolderWatch, WatchRequest } from '../core/folder-watch.ts';
import { changedFiles, takeInventory } from './inventory.ts';
import { type Found, findBelow, findNamed, isTooMany, MOST_FILES } from './listing.ts';

/** What is around the folders that agents work in. */
export interface Surroundings {
  /** The folder of the shifts, which is left out: other rules guard it, and runs write there. */
  readonly leftOut: string;
  /** What git printed, if it could do it. It must not run anything that a repository names. */
  git(folder: string, args: readonly string[], signal: AbortSignal): Promise<string | undefined>;
  /** Whether another shift of this project is being run just now: its devs may be anywhere. */
  hasNeighbours(): boolean;
  warn(message: string): void;
}

interface Judging {
  readonly root: string;
  readonly alone: boolean;
  readonly ended: Promise<void>;
  /** Somebody who may write was there meanwhile. */
  isDisturbed: boolean;
  isShared: boolean;
}

const NOTHING: FolderChanges = { files: [], isShared: false };

/** Who works and who judges where, and what changed under the eyes of those who judge (rule Q2). Nothing is undone. */
export class Folders {
  readonly #around: Surroundings;
  /** Where somebody works who may write: devs, checks. */
  readonly #work = new Set<{ readonly folder: string }>();
  readonly #judging = new Set<Judging>();
  readonly #said = new Set<string>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Somebody works there who may write, until it is disposed. */
  enter(folder: string): Disposable {
    const work = { folder: resolved(folder) };
    this.#work.add(work);
    for (const each of this.#judging) if (overlap(each.root, work.folder)) each.isDisturbed = true;
    return { [Symbol.dispose]: () => void this.#work.delete(work) };
  }

  async watch({ folder: asked, protect, alone, signal }: WatchRequest): Promise<FolderWatch> {
    const folder = resolved(asked);
    // Where it is known already that nobody could say who did it, git need not be asked.
    const repository = this.#isWorkedIn(folder) ? undefined : await this.#repositoryOf(folder, signal);
    const judging = await this.#enterToJudge(repository ?? folder, alone, signal);
    const look = async () => {
      if (judging.isDisturbed) return undefined;
      const files = await this.#list(folder, repository, protect, signal);
      return files && takeInventory(files, signal);
    };
    const before = await look();
    return {
      changes: async () => {
        const after = before && (await look());
        if (signal.aborted) return NOTHING;
        const files = before && after ? changedFiles(before, after) : [];
        if (!this.#isAttributable(judging, files)) return NOTHING;
        return { files: files.map((file) => relative(folder, file)), isShared: judging.isShared };
      },
      [Symbol.dispose]: () => judging[Symbol.dispose](),
    };
  }

  /** Where it can't be said who did it, that is told instead. */
  #isAttributable({ isDisturbed }: Judging, files: readonly string[]): boolean {
    if (isDisturbed) this.#unwatched('work', 'while devs or checks are at work in the same folder');
    const hasNeighbours = !isDisturbed && files.length > 0 && this.#around.hasNeighbours();
    if (hasNeighbours) this.#unwatched('neighbours', 'while another shift of this project runs');
    return !isDisturbed && !hasNeighbours;
  }

  #isWorkedIn(place: string): boolean {
    return [...this.#work].some(({ folder }) => overlap(folder, place));
  }

  async #enterToJudge(root: string, alone: boolean, signal: AbortSignal): Promise<Judging & Disposable> {
    const present = () => [...this.#judging].filter((each) => overlap(each.root, root));
    const inTheWay = () => present().filter((each) => alone || each.alone);
    while (inTheWay().length > 0 && !signal.aborted) {
      await Promise.race([...inTheWay().map(({ ended }) => ended), aborted(signal)]);
    }
    const others = present();
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const judging = {
      root,
      alone,
      ended,
      isDisturbed: this.#isWorkedIn(root),
      isShared: others.length > 0,
      [Symbol.dispose]: () => {
        this.#judging.delete(judging);
        end();
      },
    };
    for (const each of others) each.isShared = true;
    this.#judging.add(judging);
    return judging;
  }

  /** The working tree that the folder is in; undefined outside of git. */
  async #repositoryOf(folder: string, signal: AbortSignal): Promise<string | undefined> {
    const printed = await this.#around.git(folder, ['rev-parse', '--show-toplevel'], signal);
    return printed?.replace(/\n$/, '') || undefined;
  }

  /** Undefined: not watched, which is told. */
  async #list(
    folder: string,
    repository: string | undefined,
    protect: readonly string[],
    signal: AbortSignal,
  ): Promise<Set<string> | undefined> {
    const found: Found = { files: new Set(), folders: 0, leftOut: this.#around.leftOut };
    if (repository === undefined) await findBelow(folder, found);
    for (const glob of protect) await findNamed(folder, glob, found);
    if (isTooMany(found)) {
      const which = repository === undefined ? folder : `what \`protect\` names in ${folder}`;
      this.#unwatched('size', `in ${which}: there are more than ${MOST_FILES} files`);
      return undefined;
    }
    if (repository === undefined) return found.files;
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const printed = await this.#around.git(repository, args, signal);
    if (printed === undefined) {
      if (!signal.aborted) this.#unwatched('git', `in ${folder}: git can't list its files`);
      return undefined;
    }
    for (const name of printed.split('\0')) {
      const file = join(repository, name);
      if (name !== '' && !isWithin(file, found.leftOut)) found.files.add(file);
    }
    return found.files;
  }

  /** Told once in a run for each kind of reason, whichever folder it is. */
  #unwatched(kind: string, when: string): void {
    if (this.#said.has(kind)) return;
    this.#said.add(kind);
    this.#around.warn(`what a qa changes is not noticed ${when}`);
  }
}

function resolved(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}

function overlap(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
