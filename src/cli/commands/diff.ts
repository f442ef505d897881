import { findShift } from '../../app/find-shift.ts';
import { diffRow } from '../../app/workspaces/diff-row.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { PATCH_TOO_LARGE, patchLines, tooLargeLines } from '../../views/diff.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '', row = '']: readonly string[], options: Options): Promise<number> {
  const { stat, nameOnly, json } = options;
  if (stat && nameOnly) throw new NightshiftError('usage', '--stat and --name-only do not go together', 'choose one');
  const isPatch = !stat && !nameOnly;
  // What goes to a file or a program must apply as it is, also binary files.
  const isForReader = io.terminal !== undefined && !json;
  const args = stat ? ['--stat'] : nameOnly ? ['--name-only'] : isForReader ? [] : ['--binary'];
  const isPiped = !json && !io.isInteractive && !isForReader;
  const send = isPiped ? { send: io.send } : {};
  const { text, change, ...diff } = await diffRow(io, findShift(io, name), row, { args, ...send });
  for (const line of tooLargeLines(change)) io.warn(`warning: ${line}`);
  if (text === undefined && !isPiped) io.warn(`warning: ${PATCH_TOO_LARGE}`);
  if (json) {
    const patch = isPatch && text !== undefined ? { patch: text } : {};
    io.print(JSON.stringify({ ...diff, files: change.files, ...patch }));
  } else if (change.files.length === 0) io.warn(`row ${diff.row} has changed nothing`);
  else if (isPatch && io.terminal) {
    for (const line of patchLines(text ?? '', io.terminal.colour)) io.terminal.write(`${line}\n`);
  } else if (text !== undefined) io.print(text.trimEnd());
  return EXIT.done;
}
