import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { agrees, checkProposal, differenceLines, type Proposal, sayInForce } from '../../app/edit/accept-document.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { nearest } from '../../core/model/names.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import { openShift, type ShiftPaths } from '../../store/folder/layout.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Edits a document of a shift, also while it runs: in an editor, on a copy, checked before it is put in force. */
export async function run(io: Io, [name = '', wanted = '']: readonly string[], options: Options): Promise<number> {
  const paths = openShift(requireRoot(io), name);
  const file = await findDocument(paths, wanted);
  const base = new ShiftFiles(paths).see(file).text ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'nightshift-edit-'));
  const copy = join(folder, basename(file));
  await writeFile(copy, base, { mode: 0o600 });
  const proposal = await untilUsable(io, paths, { file, base, copy });
  if (proposal === undefined) {
    await rm(folder, { recursive: true });
    io.print(options.json ? JSON.stringify({ accepted: [] }) : `${basename(file)} was not changed.`);
    return EXIT.done;
  }
  const files = new ShiftFiles(paths);
  for (const task of proposal.brought) await files.acceptAsIs(task.file, task.text);
  if (!(await files.putInForce(file, proposal.text, base))) {
    throw kept(copy, `${basename(file)} was changed while you edited it`, 'edit it again, and copy what you need');
  }
  await rm(folder, { recursive: true });
  const isRunning = currentHolder(paths.runLock) !== undefined;
  if (options.json) io.print(JSON.stringify({ accepted: [basename(file)], isRunning }));
  else {
    for (const line of differenceLines(paths, proposal)) io.print(line);
    sayInForce(io, isRunning, [basename(file)]);
  }
  return EXIT.done;
}

async function findDocument(paths: ShiftPaths, wanted: string): Promise<string> {
  const documents = new Map([
    ['manager', paths.manager],
    ['env', paths.env],
  ]);
  const tasks = (await new ShiftFiles(paths).taskOrder().catch(() => [])).map(({ name }) => name);
  for (const task of tasks) if (existsSync(paths.task(task))) documents.set(task, paths.task(task));
  const found = documents.get(wanted) ?? [...documents.values()].find((file) => basename(file) === wanted);
  if (found !== undefined) return found;
  const near = nearest(wanted, documents.keys());
  const hint = near ? `did you mean ${near}?` : `there are: ${[...documents.keys()].join(', ')}`;
  throw new NightshiftError('not-found', `${paths.name} has no file ${JSON.stringify(wanted)} to edit`, hint);
}

interface Usable extends Proposal {
  readonly brought: readonly Proposal[];
}

/** Undefined: nothing was changed. */
async function untilUsable(
  io: Io,
  paths: ShiftPaths,
  { file, base, copy }: { readonly file: string; readonly base: string; readonly copy: string },
): Promise<Usable | undefined> {
  for (;;) {
    openEditor(io, copy);
    const text = await readFile(copy, 'utf8');
    if (text === base) return undefined;
    try {
      return { file, base, text, brought: await checkProposal(paths, { file, base, text }) };
    } catch (error) {
      if (!(error instanceof NightshiftError)) throw error;
      const line = error.file === file && error.line !== undefined ? ` (line ${error.line})` : '';
      if (!io.isInteractive) throw kept(copy, `${error.message}${line}`, error.hint);
      io.warn(`${error.message}${line}${error.hint === undefined ? '' : `\n  ${error.hint}`}`);
      if (!(await agrees('Edit it again?'))) throw kept(copy, `${basename(file)} was not changed`, undefined);
    }
  }
}

function openEditor(io: Io, copy: string): void {
  const editor = io.env.VISUAL || io.env.EDITOR || 'vi';
  // As git does: the setting may have arguments, so a shell takes it apart.
  const { status, error } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', copy], { stdio: 'inherit' });
  if (status === 0 && !error) return;
  throw kept(copy, `the editor ended with ${status ?? 'an error'}: ${editor}`, 'set VISUAL or EDITOR to your editor');
}

function kept(copy: string, message: string, hint: string | undefined): NightshiftError {
  const where = `your text is in ${copy}`;
  return new NightshiftError('usage', message, hint === undefined ? where : `${hint}; ${where}`);
}
