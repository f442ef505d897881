import { basename } from 'node:path';
import { checkProposal, differenceOf, isBeingRun, type Proposal } from '../../app/edit/proposal.ts';
import { acceptEdit, findWaitingEdits } from '../../app/edit/waiting-edits.ts';
import { findShift } from '../../app/find-shift.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { differenceLines, inForceLines } from '../../views/documents.ts';
import { confirm } from '../confirm.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Shows edits that were put back because items were running, and puts them in force. */
export async function run(io: Io, [name = '', wanted]: readonly string[], options: Options): Promise<number> {
  const { json, yes } = options;
  const paths = findShift(io, name);
  const accepted: string[] = [];
  const edits = findWaitingEdits(paths, wanted);
  for (const waiting of edits) {
    const edit = await checkProposal(paths, waiting);
    const differences = [edit, ...edit.tasks.map((task) => ({ ...task, base: '' }))];
    if (!json) {
      for (const each of differences) for (const line of differenceLines(differenceOf(paths, each))) io.print(line);
    }
    if (!yes && !(await isConfirmed(io, edit))) continue;
    await acceptEdit(paths, edit);
    accepted.push(basename(edit.file));
  }
  const isRunning = isBeingRun(paths);
  if (json) io.print(JSON.stringify({ accepted, isRunning }));
  else if (edits.length === 0) io.print(`Nothing to accept: no edit of ${paths.name} was reverted.`);
  else for (const line of inForceLines(accepted, isRunning)) io.print(line);
  return accepted.length > 0 || edits.length === 0 ? EXIT.done : EXIT.stopped;
}

async function isConfirmed(io: Io, { file }: Proposal): Promise<boolean> {
  if (io.isInteractive) return confirm(io, `Apply this to ${basename(file)}?`);
  const hint = 'read the difference above, then add --yes';
  throw new NightshiftError('usage', 'there is no terminal to ask for confirmation', hint);
}
