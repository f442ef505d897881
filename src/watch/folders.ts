import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import type { FolderChanges, FolderWatch, WatchRequest } from '../core/model/folder-watch.ts';
import { identityIn } from './inventory.ts';
import { type Git, openRepository, type Repository } from './repository.ts';
import { changesBetween, isWithin, type Survey, SurveyFailure, surveyAfter, surveyBefore } from './survey.ts';

/** The surroundings of the folders that agents work in. */
export interface Surroundings {
  /** The folder of the shifts. It is left out: other rules protect it, and runs write there. */
  readonly leftOut: string;
  readonly git: Git;
  /** `DEVICE:INODE` of the files that Nightshift's own output goes to. */
  ownOutput(): ReadonlySet<string>;
  /** Whether another shift of this project runs now: its devs may write anywhere. */
  hasNeighbours(): boolean;
  warn(message: string): void;
}

interface Judging {
  readonly root: string;
  readonly alone: boolean;
  readonly isWorkspace: boolean;
  readonly ended: Promise<void>;
  /** A dev or a check worked there meanwhile. */
  isDisturbed: boolean;
  isShared: boolean;
}

/** At most this many repository configurations are remembered. */
const MOST_REMEMBERED = 1000;

const NOTHING: FolderChanges = { files: [], isShared: false };

/** Tracks where devs work and qas judge, and what changed while a qa judged (rule Q2). Undoes nothing. */
export class Folders {
  readonly #around: Surroundings;
  /** Where devs and checks work, which may write. */
  readonly #work = new Set<{ readonly folder: string }>();
  readonly #judging = new Set<Judging>();
  readonly #repositories = new Map<string, Repository>();
  /** Ignore rules that a qa changed, and what they hide. */
  readonly #distrusted = new Set<string>();
  readonly #said = new Set<string>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** A dev or a check works there until this is disposed. */
  enter(folder: string): Disposable {
    const work = { folder: resolved(folder) };
    this.#work.add(work);
    for (const each of this.#judging) if (overlap(each.root, work.folder)) each.isDisturbed = true;
    return { [Symbol.dispose]: () => void this.#work.delete(work) };
  }

  async watch({ folder: asked, protect, alone, isWorkspace = false, signal }: WatchRequest): Promise<FolderWatch> {
    const folder = resolved(asked);
    // If the culprit can't be told anyway, git is not asked.
    const repository = this.#isWorkedIn(folder) ? undefined : await this.#repositoryOf(folder, signal);
    const judging = await this.#enterToJudge(repository?.top ?? folder, { alone, isWorkspace }, signal);
    const { git, leftOut } = this.#around;
    const scope = { folder, repository, protect, leftOut, distrusted: new Set(this.#distrusted), git, signal };
    const before = judging.isDisturbed ? undefined : this.#told(await surveyBefore(scope), signal);
    return {
      changes: async () => {
        const after = before && !judging.isDisturbed ? this.#told(await surveyAfter(scope, before), signal) : undefined;
        if (!before || !after) return this.#found(judging, folder, []);
        const { files, rules } = await changesBetween(scope, before, after);
        if (signal.aborted) return NOTHING;
        const found = this.#found(judging, folder, this.#ofOthers(files, before, after));
        if (found.files.length > 0) for (const file of rules) this.#distrusted.add(file);
        return found;
      },
      [Symbol.dispose]: () => judging[Symbol.dispose](),
    };
  }

  #found(judging: Judging, folder: string, files: readonly string[]): FolderChanges {
    if (!this.#isAttributable(judging, files)) return NOTHING;
    return { files: files.map((file) => relative(folder, file)), isShared: judging.isShared };
  }

  /** As first read in this run: a qa may have changed its configuration since. */
  async #repositoryOf(folder: string, signal: AbortSignal): Promise<Repository | undefined> {
    const known = this.#repositories.get(folder) ?? (await openRepository(this.#around.git, folder, signal));
    if (known) this.#repositories.set(folder, known);
    if (this.#repositories.size > MOST_REMEMBERED) this.#repositories.delete(this.#repositories.keys().next().value!);
    return known;
  }

  /** A file that Nightshift's own output goes to changes all the time. Another file in its place counts. */
  #ofOthers(changed: readonly string[], before: Survey, after: Survey): readonly string[] {
    if (changed.length === 0) return changed;
    const own = this.#around.ownOutput();
    const isOwn = (file: string) => {
      const [then, now] = [identityIn(before.files.get(file)), identityIn(after.files.get(file))];
      return (then ?? now) !== undefined && [then, now].every((each) => each === undefined || own.has(each));
    };
    return changed.filter((file) => !isOwn(file));
  }

  /** If a folder can't be watched, warns instead. */
  #told(survey: Survey | SurveyFailure, signal: AbortSignal): Survey | undefined {
    if (!(survey instanceof SurveyFailure)) return survey;
    if (!signal.aborted) this.#unwatched(survey.kind, survey.where);
    return undefined;
  }

  /** If the culprit can't be told, warns instead. */
  #isAttributable({ isDisturbed, isWorkspace }: Judging, files: readonly string[]): boolean {
    if (isDisturbed) this.#unwatched('work', 'while devs or checks work in the same folder');
    const hasNeighbours = !isDisturbed && !isWorkspace && files.length > 0 && this.#around.hasNeighbours();
    if (hasNeighbours) this.#unwatched('neighbours', 'while another shift of this project runs');
    return !isDisturbed && !hasNeighbours;
  }

  #isWorkedIn(place: string): boolean {
    return [...this.#work].some(({ folder }) => overlap(folder, place));
  }

  async #enterToJudge(
    root: string,
    { alone, isWorkspace }: Pick<Judging, 'alone' | 'isWorkspace'>,
    signal: AbortSignal,
  ): Promise<Judging & Disposable> {
    const present = () => [...this.#judging].filter((each) => overlap(each.root, root));
    const inTheWay = () => present().filter((each) => alone || each.alone);
    let stopped: Promise<void> | undefined;
    while (inTheWay().length > 0 && !signal.aborted) {
      stopped ??= aborted(signal);
      await Promise.race([...inTheWay().map(({ ended }) => ended), stopped]);
    }
    const others = present();
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const judging = {
      root,
      alone,
      isWorkspace,
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

  /** Warns once in a run for each kind of reason, whichever folder it is. */
  #unwatched(kind: string, when: string): void {
    if (this.#said.has(kind)) return;
    this.#said.add(kind);
    this.#around.warn(`changes by a qa are not noticed ${when}`);
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

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
