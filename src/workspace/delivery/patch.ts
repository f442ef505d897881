import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceRecord } from '../records.ts';
import type { DeskGit } from './desk-git.ts';

export interface PatchPlace {
  readonly folder: string;
  /** Replaces a file as a whole, durably. */
  readonly replace: (file: string, bytes: Uint8Array) => Promise<void>;
}

/** Writes a file that `git am` takes. Returns its path. */
export async function writePatch(
  desk: DeskGit,
  { row, slug }: WorkspaceRecord,
  commit: string,
  { folder, replace }: PatchPlace,
): Promise<string> {
  // Git writes the file: a patch may hold bytes that are no text.
  const made = join(desk.folder, 'patch');
  const form = ['--binary', '--root', '--no-signature', '--no-ext-diff', '--no-textconv', '--numbered-files'];
  await desk.ask("git can't write a patch", ['format-patch', '--quiet', ...form, '-o', made, '-1', commit]);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${row}-${slug}.patch`);
  await replace(file, readFileSync(join(made, '1')));
  rmSync(made, { recursive: true, force: true });
  return file;
}
