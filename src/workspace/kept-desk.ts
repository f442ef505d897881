import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Desk } from './desk.ts';
import { askGit, type Git } from './git.ts';
import type { WorkspaceRecord } from './records.ts';
import { parseSettings, type Source, settingIn } from './source.ts';

/**
 * Opens the desk of a workspace when no run is active, with the hooks and configuration that the run gave it: agents
 * may have changed those of the repository since. Undefined if the desk is gone.
 */
export async function openKeptDesk(
  git: Git,
  record: WorkspaceRecord,
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly desk: Desk; readonly source: Source | undefined } | undefined> {
  if (!existsSync(join(folder, 'HEAD'))) return undefined;
  const source = record.kind === 'copy' ? undefined : await keptSource(git, record, folder, signal);
  const options = { folder, workspace: record.folder, source, branch: record.branch };
  return { desk: await Desk.open(git, options, signal), source };
}

async function keptSource(git: Git, { from }: WorkspaceRecord, desk: string, signal: AbortSignal): Promise<Source> {
  const read = (file: string) => readFileSync(join(desk, file), 'utf8');
  const args = ['config', '--file', join(desk, 'config'), '--list', '-z'];
  const settings = parseSettings(await askGit(git, `git can't read ${desk}`, { folder: desk, args, signal }));
  const commonDir = dirname(read('objects/info/alternates').trim());
  return {
    folder: from,
    isBare: false,
    commonDir,
    objectFormat: settingIn(settings, 'extensions.objectformat') ?? 'sha1',
    head: undefined,
    settings,
    hooks: settingIn(settings, 'core.hookspath') ?? '/dev/null',
    exclude: read('info/exclude').trimEnd(),
  };
}
