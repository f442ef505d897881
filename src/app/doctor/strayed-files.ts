import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ShiftPaths, shiftsFolder } from '../../store/folder/layout.ts';
import type { OpenShift } from '../open-shift.ts';
import type { Finding } from './finding.ts';

/** `{SHIFT:FOLDER}` directly followed by a name, without a slash. */
const UNSLASHED = /(?<![${])\{SHIFT:FOLDER\}[\w.{-]/;

/**
 * Until version 0.1, `{SHIFT:FOLDER}` did not end in a slash: `{SHIFT:FOLDER}out.txt` was a file next to the shift's
 * folder.
 */
export async function strayedFiles(paths: ShiftPaths, { shift }: OpenShift): Promise<Finding[]> {
  const places = shift.tasks.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, i) => (UNSLASHED.test(line) ? [`${file} line ${i + 1}`] : [])),
  );
  if (places.length === 0) return [];
  const folder = shiftsFolder(paths.root);
  const strayed = (await readdir(folder)).filter(
    (name) => name.startsWith(paths.name) && name !== paths.name && !existsSync(join(folder, name, 'manager.md')),
  );
  if (strayed.length === 0) return [];
  return [
    {
      level: 'note',
      shift: paths.name,
      message: `${strayed.join(', ')} in ${folder}: written when {SHIFT:FOLDER} had no slash at its end`,
      details: places,
      remedy: `if it belongs to the shift, move it into ${paths.folder}; {SHIFT:FOLDER} now ends in a slash`,
    },
  ];
}
