import { createInterface } from 'node:readline/promises';
import type { Io } from '../../cli/io.ts';
import { unifiedDiff } from '../../core/text/line-diff.ts';
import { createMask } from '../../core/text/mask.ts';
import { compileShift } from '../../formats/compile.ts';
import { envEditText } from '../../formats/document-edit.ts';
import { parseEnv } from '../../formats/env.ts';
import { parseManager } from '../../formats/manager.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { readTable } from '../../store/folder/table/table-change.ts';
import { printable } from '../../views/printable.ts';

/** What a person wants to be in force in place of what is. */
export interface Proposal {
  readonly file: string;
  /** What is in force; empty: there is no such file. */
  readonly base: string;
  readonly text: string;
}

/**
 * Throws if the shift could not be run with it: with file and line, as `start` would. Answers the tasks that it brings in,
 * whose files are put in force with it.
 */
export async function checkProposal(paths: ShiftPaths, { file, base, text }: Proposal): Promise<Proposal[]> {
  const files = new ShiftFiles(paths);
  const documents = files.assemble((each) => (each === file ? text : files.see(each).text));
  compileShift(documents, (await readTable(paths)).header);
  if (file !== paths.manager) return [];
  const before = new Set(parseManager(base, file).tasks.map(({ name }) => name));
  return documents.tasks
    .filter(({ name }) => !before.has(name))
    .map((task) => ({ file: task.file, base: task.document.text, text: task.document.text }));
}

/** The difference, for a person who is to say yes. Of `.env` only the names of variables. */
export function differenceLines(paths: ShiftPaths, { file, base, text }: Proposal): string[] {
  if (file === paths.env) return [`.env: ${envEditText(base, text)}`];
  const mask = createMask(secretsIn(paths));
  return [`--- ${file} (in force)`, '+++ proposed', ...unifiedDiff(base, text)].map((line) =>
    printable(mask.text(line)),
  );
}

function secretsIn(paths: ShiftPaths): Record<string, string> {
  try {
    return Object.fromEntries(parseEnv(new ShiftFiles(paths).see(paths.env).text ?? '', paths.env));
  } catch {
    return {};
  }
}

/** A question on the terminal that Enter answers with no. */
export async function agrees(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

export function sayInForce(io: Io, isRunning: boolean, files: readonly string[]): void {
  const when = isRunning ? 'in force from the next item that is started' : 'in force';
  for (const file of files) io.print(`${file}: ${when}`);
}
