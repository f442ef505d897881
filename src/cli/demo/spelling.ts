import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { shellWord } from '../../core/schedule/run-request.ts';
import type { Io } from '../io.ts';

/** How somebody who is in `folder` calls this very program: by its name if their shell finds it, else by its file. */
export function programSpelling(program: string, folder: string, env: Io['env']): string {
  // A shell that npm starts finds programs that the user's own does not.
  const places = (env.PATH ?? '').split(delimiter).filter((place) => !place.endsWith(join('node_modules', '.bin')));
  const found = places.map((place) => join(place, 'nightshift')).find(isProgram);
  const main = realpathSync(program);
  if (found !== undefined && realpathSync(found) === main) return 'nightshift';
  return `node ${shellWord(shorter(main, folder))}`;
}

/** A path for somebody who is in `from`. */
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
