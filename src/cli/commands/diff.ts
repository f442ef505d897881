import { findShift } from '../../app/find-shift.ts';
import { diffRow } from '../../app/workspaces/diff-row.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { patchLines } from '../../views/diff.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '', row = '']: readonly string[], options: Options): Promise<number> {
  const { stat, nameOnly, json } = options;
  if (stat && nameOnly) throw new NightshiftError('usage', '--stat and --name-only do not go together', 'choose one');
  const isPatch = !stat && !nameOnly;
  // What goes to a file or a program must apply as it is, also binary files.
  const isForReader = io.terminal !== undefined && !json;
  const how = stat ? ['--stat'] : nameOnly ? ['--name-only'] : isForReader ? [] : ['--binary'];
  const { bytes, text, change, ...diff } = await diffRow(io, findShift(io, name), row, how);
  if (json) io.print(JSON.stringify({ ...diff, files: change.files, ...(isPatch ? { patch: text } : {}) }));
  else if (change.files.length === 0) io.warn(`row ${diff.row} has changed nothing`);
  else if (isPatch && io.terminal) {
    for (const line of patchLines(text, io.terminal.colour)) io.terminal.write(`${line}\n`);
  } else if (io.isInteractive) io.print(text.trimEnd());
  else io.send(bytes);
  return EXIT.done;
}
