import { type Caller, type Standing, standingOf } from '../../core/model/opener.ts';
import { batchIsOpen, type FoundBatch, isStale, readBatch } from '../../store/folder/batch-file.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { isAlive } from '../../store/folder/process-life.ts';

/** Refuses to replace a batch that agents may be working on. You may say that none are. */
export function refuseToOpen(paths: ShiftPaths, caller: Caller, now: number, takeOver: boolean): void {
  const found = readBatch(paths);
  if (!found || isStale(found, now)) return;
  const standing = standingOf(found.batch.opener, caller, isAlive);
  if (standing === 'left' || (takeOver && !caller.opener)) return;
  throw batchIsOpen(paths, found.batch, hintFor(paths, caller, standing));
}

/** Refuses to close the batch of another agent. */
export function refuseToClose(paths: ShiftPaths, found: FoundBatch, caller: Caller, now: number): void {
  if (!caller.opener || isStale(found, now)) return;
  const standing = standingOf(found.batch.opener, caller, isAlive);
  if (standing === 'theirs') throw batchIsOpen(paths, found.batch, hintFor(paths, caller, standing));
}

function hintFor({ name }: ShiftPaths, { opener }: Caller, standing: Standing): string {
  const close = `\`nightshift batch close ${name}\``;
  const takeOver = `\`nightshift batch open ${name} --take-over\``;
  if (standing === 'own' && opener) return `it is yours: ${close} says what its items need`;
  if (opener)
    return `another conversation works on it: stop here. If none does, a person runs ${takeOver} in a terminal`;
  return `${close} closes it when all its items have ended. If its agents are gone, ${takeOver} resumes, and ${close.slice(0, -1)} --give-back\` ends it`;
}
