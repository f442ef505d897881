import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Desk } from './desk.ts';
import { KEPT_IN } from './desk-settings.ts';
import { askGit, type Git, GitFailure } from './git.ts';
import { readKept } from './kept-source.ts';
import type { WorkspaceRecord } from './records.ts';
import type { Source } from './source.ts';

/**
 * Opens the desk of a workspace when no run is active, with the hooks and configuration that the run gave it: agents
 * may have changed those of the repository since. Undefined if the desk is gone.
 */
export async function openKeptDesk(
  git: Git,
  { kind, folder: workspace, branch, included }: WorkspaceRecord,
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly desk: Desk; readonly source: Source | undefined } | undefined> {
  if (!existsSync(join(folder, 'HEAD'))) return undefined;
  const source = kind === 'copy' ? undefined : await keptSource(git, folder, signal);
  return { desk: await Desk.open(git, { folder, workspace, source, branch, included }, signal), source };
}

async function keptSource(git: Git, desk: string, signal: AbortSignal): Promise<Source> {
  const args = ['config', '--file', join(desk, 'config'), KEPT_IN];
  const copies = (await askGit(git, `git can't read ${desk}`, { folder: desk, args, signal })).trim();
  const source = readKept(copies);
  if (source) return source;
  const said = `${copies} is gone or damaged`;
  throw new GitFailure('the hooks and settings of its run are lost', { kind: 'refused', code: 1, said });
}
