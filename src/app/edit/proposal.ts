import { unifiedDiff } from '../../core/text/line-diff.ts';
import { createMask } from '../../core/text/mask.ts';
import { compileShift } from '../../formats/compile.ts';
import { envEditText } from '../../formats/describe-edit.ts';
import { parseEnv } from '../../formats/env.ts';
import { parseManager } from '../../formats/manager.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';
import { readTable } from '../../store/folder/table/table-change.ts';

/** A text that you want in force instead of the current one. */
export interface Proposal {
  readonly file: string;
  /** What is in force; empty: there is no such file. */
  readonly base: string;
  readonly text: string;
}

/** One that a run could work with. */
export interface CheckedProposal extends Proposal {
  /** Tasks that it adds to the Task Order; their files come into force with it. */
  readonly tasks: readonly Proposal[];
}

/** Throws if the shift could not be run with it: with file and line, as `start` would. */
export async function checkProposal<P extends Proposal>(paths: ShiftPaths, proposal: P): Promise<P & CheckedProposal> {
  const { file, base, text } = proposal;
  const files = new ShiftFiles(paths);
  const documents = files.assemble((each) => (each === file ? text : files.see(each).text));
  compileShift(documents, (await readTable(paths)).header);
  if (file !== paths.manager) return { ...proposal, tasks: [] };
  const before = new Set(parseManager(base, file).tasks.map(({ name }) => name));
  const tasks = documents.tasks
    .filter(({ name }) => !before.has(name))
    .map((task) => ({ file: task.file, base: task.document.text, text: task.document.text }));
  return { ...proposal, tasks };
}

/** Puts it in force, with the tasks that it adds: a run takes them together. False: the file no longer is `base`. */
export async function putInForce(paths: ShiftPaths, { file, base, text, tasks }: CheckedProposal): Promise<boolean> {
  const files = new ShiftFiles(paths);
  for (const task of tasks) await files.acceptAsIs(task.file, task.text);
  return files.putInForce(file, text, base);
}

export function isBeingRun({ runLock }: ShiftPaths): boolean {
  return currentHolder(runLock) !== undefined;
}

/** What would change, for your decision. Secrets are masked; of `.env` there are only the names of variables. */
export type Difference = { readonly env: string } | { readonly file: string; readonly lines: readonly string[] };

export function differenceOf(paths: ShiftPaths, { file, base, text }: Proposal): Difference {
  if (file === paths.env) return { env: envEditText(base, text) };
  const mask = createMask(secretsIn(paths));
  return { file: mask.text(file), lines: unifiedDiff(base, text).map((line) => mask.text(line)) };
}

function secretsIn(paths: ShiftPaths): Record<string, string> {
  try {
    return Object.fromEntries(parseEnv(new ShiftFiles(paths).see(paths.env).text ?? '', paths.env));
  } catch {
    return {};
  }
}
