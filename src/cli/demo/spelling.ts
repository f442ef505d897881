import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { shellWord } from '../../core/schedule/run-request.ts';
import type { Io } from '../io.ts';

/** How you call this program in `folder`: by its name if your shell finds it, otherwise by its file. */
export function programSpelling(program: string, folder: string, env: Io['env']): string {
  // npm adds folders to the PATH that your own shell does not have.
  const places = (env.PATH ?? '').split(delimiter).filter((place) => !place.endsWith(join('node_modules', '.bin')));
  const found = places.map((place) => join(place, 'nightshift')).find(isProgram);
  const main = realpathSync(program);
  if (found !== undefined && realpathSync(found) === main) return 'nightshift';
  return `node ${shellWord(shorter(main, folder))}`;
}

/** The shortest way to write a path in `from`. */
export function shorter(path: string, from: string): string {
  const way = relative(from, path) || '.';
  return way.length < path.length ? way : path;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
