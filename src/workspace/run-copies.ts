import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder } from './remove-folder.ts';

/** A run that has ended. */
const OVER = 'over';
/** A folder that is being removed. */
const GONE = '.gone';

/**
 * The folder in which a run keeps hooks and configuration as they were when it began. A run that was killed has no end:
 * the next one continues with its folder. Only the process that has the run lock uses it.
 */
export class RunCopies {
  readonly folder: string;
  /** A run that never ended has left it. */
  readonly isLeft: boolean;
  readonly #all: string;

  /** `all`: the folder of all runs. Nothing is written there yet. */
  constructor(all: string) {
    const runs = runsIn(all);
    const left = runs.findLast((run) => !existsSync(join(all, run, OVER)));
    this.#all = all;
    this.isLeft = left !== undefined;
    this.folder = join(all, left ?? String(Number(runs.at(-1) ?? 0) + 1));
  }

  /** The run has ended by itself. Copies stay as long as a desk has their hooks and settings. `desks`: of the shift. */
  async end(desks: string): Promise<void> {
    if (existsSync(this.folder)) writeFileSync(join(this.folder, OVER), '');
    const over = runsIn(this.#all)
      .map((run) => join(this.#all, run))
      .filter((folder) => existsSync(join(folder, OVER)));
    const configs = over.length === 0 ? [] : configsIn(desks);
    for (const folder of over) {
      // Renamed first: half removed, it would look like that of a run that never ended.
      if (!configs.some((config) => config.includes(`${folder}/`))) renameSync(folder, `${folder}${GONE}`);
    }
    const gone = existsSync(this.#all) ? readdirSync(this.#all).filter((name) => name.endsWith(GONE)) : [];
    for (const name of gone) await removeFolder(join(this.#all, name));
  }
}

function runsIn(all: string): string[] {
  if (!existsSync(all)) return [];
  return readdirSync(all)
    .filter((name) => /^\d+$/.test(name))
    .sort((a, b) => Number(a) - Number(b));
}

function configsIn(desks: string): string[] {
  if (!existsSync(desks)) return [];
  const files = readdirSync(desks).map((name) => join(desks, name, 'config'));
  return files.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8'));
}
