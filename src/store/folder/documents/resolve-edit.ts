import { NightshiftError } from '../../../core/model/errors.ts';
import { isHarmless, judgeManagerEdit, type ManagerEdit, managerEditText } from '../../../core/model/in-force.ts';
import { envEditText, taskEditText } from '../../../formats/describe-edit.ts';
import { parseManager, readShiftSettings, restoreTerms, setSetting } from '../../../formats/manager.ts';
import type { ShiftPaths } from '../layout.ts';
import { type FileContent, isUnreadable } from './put-back.ts';

/** `now`: when the run began. */
interface Edit {
  readonly before: string;
  readonly seen: FileContent;
  readonly now: number;
}

/** Describes the change. Not masked. */
export function describeEdit({ manager, env }: ShiftPaths, file: string, { before, seen, now }: Edit): string {
  const { text } = seen;
  if (isUnreadable(seen)) return seen.unreadable!;
  if (text === undefined) return 'it was removed';
  if (file === env) return envEditText(before, text);
  if (file !== manager) return taskEditText(before, text);
  const edit = judge(manager, before, text, now);
  if (edit instanceof NightshiftError) return `it can't be read: ${edit.message}`;
  return managerEditText(edit) || 'its text';
}

/**
 * What is in force after an edit of `manager.md` while items run: the edited text if it may take effect at once.
 * Otherwise settings and Task Order go back, except those that may take effect at once; free text stays as edited.
 */
export function mergeManager({ manager }: ShiftPaths, inForce: string, { text }: FileContent, now: number): string {
  const edit = text === undefined ? undefined : judge(manager, inForce, text, now);
  if (text === undefined || edit === undefined || edit instanceof NightshiftError) return inForce;
  if (isHarmless(edit)) return text;
  const set = (merged: string) =>
    edit.taken.reduce((all, { key, to }) => (to === undefined ? all : setSetting(all, key, to)), merged);
  const restored = set(restoreTerms(text, inForce));
  const again = judge(manager, inForce, restored, now);
  return !(again instanceof NightshiftError) && isHarmless(again) ? restored : set(inForce);
}

function judge(file: string, inForce: string, edited: string, now: number): ManagerEdit | NightshiftError {
  try {
    const document = parseManager(edited, file);
    readShiftSettings(document, file);
    return judgeManagerEdit(parseManager(inForce, file), document, now);
  } catch (error) {
    if (error instanceof NightshiftError) return error;
    throw error;
  }
}
