import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { termsOf } from '../../store/folder/documents/acceptances.ts';
import { type KeptCopy, waitingCopies } from '../../store/folder/documents/put-back.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { type CheckedProposal, type Proposal, putInForce } from './proposal.ts';

/** An edit that was made while items were running, and put back. */
export interface WaitingEdit extends Proposal {
  readonly copy: KeptCopy;
}

/** The newest edit of each document that differs from what is in force. Throws if the wanted one has none. */
export function findWaitingEdits(paths: ShiftPaths, wanted: string | undefined): WaitingEdit[] {
  const files = new ShiftFiles(paths);
  const newest = new Map<string, KeptCopy>();
  for (const copy of waitingCopies(paths.folder)) newest.set(copy.document, copy);
  const isWanted = ({ file, document }: KeptCopy) =>
    wanted === undefined ||
    [document, basename(document, '.md'), basename(file)].includes(basename(wanted)) ||
    document === `.${wanted}`;
  const chosen = [...newest.values()].filter(isWanted);
  const waiting = chosen.flatMap((copy) => {
    const file = join(paths.folder, copy.document);
    const base = files.see(file).text ?? '';
    const { text } = files.see(copy.file);
    if (text === undefined || termsOf(paths, file, text) === termsOf(paths, file, base)) return [];
    return [{ file, base, text, copy }];
  });
  if (waiting.length > 0 || wanted === undefined) return waiting;
  const hint = 'omit FILE to see all reverted edits';
  throw new NightshiftError('nothing-to-do', `${wanted} has no reverted edit to accept`, hint);
}

/** Puts the edit in force, and removes the copies that it settles. */
export async function acceptEdit(paths: ShiftPaths, edit: WaitingEdit & CheckedProposal): Promise<void> {
  const { file, copy } = edit;
  if (!(await putInForce(paths, edit))) {
    const hint = 'run the command again to see the new difference';
    throw new NightshiftError('usage', `${basename(file)} was changed since it was compared`, hint, { file });
  }
  for (const each of waitingCopies(paths.folder)) {
    if (each.document === copy.document && each.stamp <= copy.stamp) {
      await rm(each.file, { force: true, recursive: true });
    }
  }
}
