import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { agrees, checkProposal, differenceLines, type Proposal, sayInForce } from '../../app/edit/accept-document.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { termsOf } from '../../store/folder/documents/accepted.ts';
import { type KeptCopy, waitingCopies } from '../../store/folder/documents/put-back.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import { openShift, type ShiftPaths } from '../../store/folder/layout.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

interface Waiting extends Proposal {
  readonly copy: KeptCopy;
}

/** Puts edits in force that were made while items were in flight, and put back. */
export async function run(io: Io, [name = '', wanted]: readonly string[], options: Options): Promise<number> {
  const paths = openShift(requireRoot(io), name);
  const waiting = findWaiting(paths, wanted);
  if (waiting.length === 0) {
    const hint = wanted === undefined ? '`nightshift edit` changes a file' : 'omit FILE to see every edit that waits';
    throw new NightshiftError('nothing-to-do', `no edit of ${wanted ?? name} waits to be accepted`, hint);
  }
  const accepted: string[] = [];
  for (const each of waiting) {
    const brought = await checkProposal(paths, each);
    if (!options.json) for (const line of differenceLines(paths, each)) io.print(line);
    for (const task of brought) {
      if (!options.json) for (const line of differenceLines(paths, { ...task, base: '' })) io.print(line);
    }
    if (!(await isAgreed(io, each, options.yes === true))) continue;
    await apply(paths, each, brought);
    accepted.push(basename(each.file));
  }
  const isRunning = currentHolder(paths.runLock) !== undefined;
  if (options.json) io.print(JSON.stringify({ accepted, isRunning }));
  else sayInForce(io, isRunning, accepted);
  return accepted.length > 0 ? EXIT.done : EXIT.stopped;
}

/** The newest copy of each document that was put back, if it says something else than what is in force. */
function findWaiting(paths: ShiftPaths, wanted: string | undefined): Waiting[] {
  const files = new ShiftFiles(paths);
  const newest = new Map<string, KeptCopy>();
  for (const copy of waitingCopies(paths.folder)) newest.set(copy.document, copy);
  const isWanted = ({ file, document }: KeptCopy) =>
    wanted === undefined ||
    [document, basename(document, '.md'), basename(file)].includes(basename(wanted)) ||
    document === `.${wanted}`;
  const chosen = [...newest.values()].filter(isWanted);
  return chosen.flatMap((copy) => {
    const file = join(paths.folder, copy.document);
    const base = files.see(file).text ?? '';
    const { text } = files.see(copy.file);
    if (text === undefined || termsOf(paths, file, text) === termsOf(paths, file, base)) return [];
    return [{ file, base, text, copy }];
  });
}

async function isAgreed(io: Io, { file }: Proposal, isYes: boolean): Promise<boolean> {
  if (isYes) return true;
  if (io.isInteractive) return agrees(`Put this in force as ${basename(file)}?`);
  const hint = 'read the difference above, then add --yes';
  throw new NightshiftError('usage', 'there is no terminal to ask for confirmation', hint);
}

/** The tasks that it brings in first: a run takes them together. */
async function apply(
  paths: ShiftPaths,
  { file, text, base, copy }: Waiting,
  brought: readonly Proposal[],
): Promise<void> {
  const files = new ShiftFiles(paths);
  for (const task of brought) await files.acceptAsIs(task.file, task.text);
  if (!(await files.putInForce(file, text, base))) {
    const hint = 'run the command again to see the new difference';
    throw new NightshiftError('usage', `${basename(file)} was changed since it was compared`, hint, { file });
  }
  for (const each of waitingCopies(paths.folder)) {
    if (each.document === copy.document && each.stamp <= copy.stamp)
      await rm(each.file, { force: true, recursive: true });
  }
}
