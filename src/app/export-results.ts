import { lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Result, resultsByRow, resultsOf } from '../core/folds/results.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { diskError, replaceFile } from '../store/folder/files/atomic-write.ts';
import { findRoot, type ShiftPaths, shiftsFolder } from '../store/folder/layout.ts';
import { readHistory } from './history.ts';
import { openAndCheck } from './open-shift.ts';
import type { World } from './world.ts';

export interface Results {
  /** One for each item-task; made while they are read, so that a table of any length fits. */
  readonly results: Iterable<Result>;
  /** The same, with one list for each row. */
  readonly byRow: Iterable<readonly Result[]>;
  readonly count: number;
  /** How many rows the table has. */
  readonly rows: number;
  /** In Task Order. */
  readonly tasks: readonly string[];
  /** The columns that hold no status. */
  readonly columns: readonly string[];
}

export async function readResults(world: World, paths: ShiftPaths): Promise<Results> {
  const { snapshot } = await openAndCheck(paths);
  const history = await readHistory(paths, world);
  return {
    results: resultsOf(snapshot, history),
    byRow: resultsByRow(snapshot, history),
    count: snapshot.count * snapshot.tasks.length,
    rows: snapshot.count,
    tasks: snapshot.tasks,
    columns: snapshot.header.filter((column) => !snapshot.tasks.includes(column)),
  };
}

/**
 * The file that an export replaces, as an absolute path. Refuses a `.nightshift` folder, where an export could replace
 * the table or the engine's files, and everything that is not a plain file.
 */
export function exportTarget({ cwd }: Pick<World, 'cwd'>, named: string): string {
  const file = resolve(cwd, named);
  const target = realTarget(file);
  const root = findRoot(dirname(target));
  if (root !== undefined && !relative(shiftsFolder(root), target).startsWith('..')) {
    throw new NightshiftError(
      'usage',
      `${file} is in a .nightshift folder, where an export could replace what a shift needs`,
      'write it to another folder',
      { file },
    );
  }
  const found = lstatSync(target, { throwIfNoEntry: false });
  if (found && !found.isFile()) {
    const message = `${file} is not a file that can be replaced`;
    throw new NightshiftError('usage', message, 'name another one; `-` is standard output', { file });
  }
  return target;
}

/** The whole file or nothing. Keeps the mode of a file that is there. */
export async function writeExport(target: string, pieces: Iterable<Uint8Array>): Promise<void> {
  const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o666;
  await replaceFile(target, Buffer.concat([...pieces]), mode & 0o777);
}

/** Where a link leads is what would be replaced. */
function realTarget(file: string): string {
  try {
    if (lstatSync(file, { throwIfNoEntry: false })) return realpathSync.native(file);
    return join(realpathSync.native(dirname(file)), basename(file));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw diskError(cause, file);
    throw new NightshiftError('not-found', `there is no folder for ${file}`, 'make it first', { file });
  }
}
