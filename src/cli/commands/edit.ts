import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { findDocument } from '../../app/edit/find-document.ts';
import { type CheckedProposal, checkProposal, differenceOf, isBeingRun, putInForce } from '../../app/edit/proposal.ts';
import { findShift, type ShiftPaths } from '../../app/find-shift.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { differenceLines, inForceLines } from '../../views/documents.ts';
import { confirm } from '../confirm.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Edits a copy of a document in an editor, checks it and puts it in force, also while the shift runs. */
export async function run(io: Io, [name = '', wanted = '']: readonly string[], { json }: Options): Promise<number> {
  const paths = findShift(io, name);
  const { file, text: base } = await findDocument(paths, wanted);
  const copy = await copyOf(file, base);
  const edit = await editUntilUsable(io, paths, { file, base, copy });
  if (edit === undefined) {
    await rm(dirname(copy), { recursive: true });
    io.print(json ? JSON.stringify({ accepted: [] }) : `${basename(file)} was not changed.`);
    return EXIT.done;
  }
  if (!(await putInForce(paths, edit))) {
    throw keeping(copy, `${basename(file)} was changed while you edited it`, 'edit it again, and copy what you need');
  }
  await rm(dirname(copy), { recursive: true });
  const isRunning = isBeingRun(paths);
  const accepted = [basename(file)];
  if (json) io.print(JSON.stringify({ accepted, isRunning }));
  else
    for (const line of [...differenceLines(differenceOf(paths, edit)), ...inForceLines(accepted, isRunning)])
      io.print(line);
  return EXIT.done;
}

async function copyOf(file: string, text: string): Promise<string> {
  const copy = join(await mkdtemp(join(tmpdir(), 'nightshift-edit-')), basename(file));
  await writeFile(copy, text, { mode: 0o600 });
  return copy;
}

interface Editing {
  readonly file: string;
  readonly base: string;
  readonly copy: string;
}

/** Undefined: the text is still the same. */
async function editUntilUsable(io: Io, paths: ShiftPaths, editing: Editing): Promise<CheckedProposal | undefined> {
  const { file, base, copy } = editing;
  for (;;) {
    openEditor(io, copy);
    const text = await readFile(copy, 'utf8');
    if (text === base) return undefined;
    try {
      return await checkProposal(paths, { file, base, text });
    } catch (error) {
      if (!(error instanceof NightshiftError)) throw error;
      const line = error.file === file && error.line !== undefined ? ` (line ${error.line})` : '';
      if (!io.isInteractive) throw keeping(copy, `${error.message}${line}`, error.hint);
      io.warn(`${error.message}${line}${error.hint === undefined ? '' : `\n  ${error.hint}`}`);
      if (!(await confirm(io, 'Edit it again?'))) throw keeping(copy, `${basename(file)} was not changed`, undefined);
    }
  }
}

function openEditor({ env }: Io, copy: string): void {
  const editor = env.VISUAL || env.EDITOR || 'vi';
  // As git does: the setting may have arguments, so a shell takes it apart.
  const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', copy], { stdio: 'inherit' });
  if (status === 0 && !error) return;
  throw keeping(
    copy,
    `the editor ended with ${status ?? 'an error'}: ${editor}`,
    'set VISUAL or EDITOR to your editor',
  );
}

/** The copy stays, and the error says where. */
function keeping(copy: string, message: string, hint: string | undefined): NightshiftError {
  const where = `your text is in ${copy}`;
  return new NightshiftError('usage', message, hint === undefined ? where : `${hint}; ${where}`);
}
