import { basename } from 'node:path';
import { NightshiftError } from '../../../core/model/errors.ts';
import { isHarmless, judgeManagerEdit, type ManagerEdit, managerEditText } from '../../../core/model/in-force.ts';
import { createMask, type Mask } from '../../../core/text/mask.ts';
import { envEditText, lessonsEditText, taskEditText } from '../../../formats/describe-edit.ts';
import { parseEnv } from '../../../formats/env.ts';
import { parseManager, readShiftSettings, restoreTerms, setSetting } from '../../../formats/manager.ts';
import type { ShiftPaths } from '../layout.ts';
import type { Texts } from './in-force-record.ts';
import { type FileContent, isUnreadable } from './put-back.ts';

/** `now`: when the run began. */
interface Edit {
  readonly before: string;
  readonly seen: FileContent;
  readonly now: number;
}

/** Describes the change. Not masked. */
export function describeEdit({ manager, env, lessons }: ShiftPaths, file: string, { before, seen, now }: Edit): string {
  const { text } = seen;
  if (isUnreadable(seen)) return seen.unreadable!;
  if (text === undefined) return 'it was removed';
  if (file === env) return envEditText(before, text);
  if (file === lessons) return lessonsEditText(before || undefined, text);
  if (file !== manager) return taskEditText(before, text);
  const edit = judge(manager, before, text, now);
  if (edit instanceof NightshiftError) return `it can't be read: ${edit.message}`;
  return managerEditText(edit) || 'its text';
}

/** What an event about an edit of this file is about. */
export function taskOf({ manager, env, lessons }: ShiftPaths, file: string): { task?: string } {
  return [manager, env, lessons].includes(file) ? {} : { task: basename(file, '.md') };
}

/** Hides the values of `.env`, as it is in force. */
export function maskOf({ env }: ShiftPaths, texts: Texts): Mask {
  return createMask(Object.fromEntries(parseEnv(texts.get(env) ?? '', env)));
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
