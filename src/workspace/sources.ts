import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { namesOf, type OutsideState, outsideChanges } from '../core/workspace/outside.ts';
import { type Git, GitFailure } from './git.ts';
import { digestsOf } from './hooks.ts';
import { hooksIn, readKept } from './kept-source.ts';
import { readSource, type Source } from './source.ts';
import { makeStandIn } from './stand-in.ts';

/**
 * The repositories of a run, each as it was when the run first used it. What a run has read that never ended still
 * counts: its agents may have written hooks and settings before it was killed.
 */
export class Sources {
  readonly #git: Git;
  readonly #folder: string;
  readonly #warn: (message: string) => void;
  readonly #known = new Map<string, Promise<Source>>();

  /** `folder`: of this run and of those before it that never ended. Agents can't write there. */
  constructor(git: Git, folder: string, warn: (message: string) => void) {
    this.#git = git;
    this.#folder = folder;
    this.#warn = warn;
  }

  /** `top`: of a working tree, or a bare repository. */
  of(top: string): Promise<Source> {
    const known = this.#known.get(top);
    if (known) return known;
    const reading = this.#read(top);
    this.#known.set(top, reading);
    reading.catch(() => this.#known.delete(top));
    return reading;
  }

  async #read(top: string): Promise<Source> {
    const copies = join(this.#folder, createHash('sha256').update(top).digest('hex').slice(0, 12));
    const kept = readKept(copies);
    if (kept === undefined) return this.#readNow(top, copies);
    makeStandIn(kept.standIn, kept);
    await this.#compare(kept, top, `${copies}-now`);
    return kept;
  }

  /** Others wait for it: one row that is withdrawn must not end it. */
  #readNow(top: string, copies: string): Promise<Source> {
    rmSync(copies, { recursive: true, force: true });
    return readSource(this.#git, top, copies, new AbortController().signal);
  }

  async #compare(kept: Source, top: string, copies: string): Promise<void> {
    const since = 'since the run that was killed began';
    const remedy = 'To use them as they are now, stop this run and start again';
    try {
      const now = await this.#readNow(top, copies);
      const place = { kind: 'repository', folder: kept.folder, label: top } as const;
      const changes = outsideChanges(place, stateOf(kept), stateOf(now));
      if (changes.length === 0) return;
      this.#warn(`${top}: ${namesOf(changes)} changed ${since}. This run uses them as they were then. ${remedy}`);
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      this.#warn(`${error.message}. This run uses hooks and settings as they were when the killed run began`);
    } finally {
      rmSync(copies, { recursive: true, force: true });
    }
  }
}

/** Git writes settings of branches whenever one is made. */
function stateOf({ settings, standIn, exclude }: Source): OutsideState {
  const state = new Map([['.git/info/exclude', exclude]]);
  for (const [name, digest] of Object.entries(digestsOf(hooksIn(dirname(standIn)))))
    state.set(`the hook ${name}`, digest);
  for (const [key, value] of settings.filter(([each]) => !each.startsWith('branch.'))) {
    const name = `the setting ${key}`;
    state.set(name, `${state.get(name) ?? ''}${value}\n`);
  }
  return state;
}
