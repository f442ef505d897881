import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Git, GitResult } from './git.ts';
import type { WorkspaceRecord } from './records.ts';
import { removeFolder } from './remove-folder.ts';

/**
 * Makes a desk small once its workspace is gone. All commits that it has stay: what was delivered, the result of each
 * task, what interrupted tries left. A desk goes if its record goes and it holds no work. Whatever git can't do here
 * costs room and nothing else, so it is no failure.
 */
export async function putAway(git: Git, desk: string, record: WorkspaceRecord, signal: AbortSignal): Promise<void> {
  if (!existsSync(desk)) return;
  for (const name of readdirSync(desk)) {
    if (/^(index|COMMIT_EDITMSG)/.test(name)) rmSync(join(desk, name), { force: true });
  }
  const env = { GIT_DIR: desk, GIT_CONFIG_GLOBAL: '/dev/null' };
  const run = (args: readonly string[], input = '') => git.run({ folder: desk, args, env, input, signal });
  if (record.delivery === undefined && !(await mayHoldWork(desk, record, run))) {
    // Without this file, a desk that is half removed is made again.
    rmSync(join(desk, 'info', 'exclude'), { force: true });
    await removeFolder(desk);
    return;
  }
  await run(['pack-refs', '--all']);
  const objects = join(desk, 'objects');
  const loose = looseIn(objects);
  // Only those: `git repack` would read the history of the repository behind the desk.
  if (loose.length > 0) await run(['pack-objects', '-q', join(objects, 'pack', 'pack')], `${loose.join('\n')}\n`);
  await run(['prune-packed', '-q']);
}

/** Whether it has files of an agent, or another tree than those that its agents began with. Also if git can't say. */
async function mayHoldWork(
  desk: string,
  { base, prepared }: WorkspaceRecord,
  run: (args: readonly string[]) => Promise<GitResult>,
): Promise<boolean> {
  if (existsSync(join(desk, 'left'))) return true;
  const listed = await run(['for-each-ref', '--format=%(tree)', 'refs/nightshift/left', 'refs/nightshift/result']);
  if (listed.kind !== 'done') return true;
  const kept = new Set(listed.text.split('\n').filter((tree) => tree !== ''));
  for (const begun of [base, prepared]) {
    const found = kept.size > 0 && begun !== undefined && (await run(['rev-parse', `${begun}^{tree}`]));
    if (found && found.kind === 'done') kept.delete(found.text.trim());
  }
  return kept.size > 0;
}

function looseIn(objects: string): string[] {
  const folders = existsSync(objects) ? readdirSync(objects).filter((name) => /^[\da-f]{2}$/.test(name)) : [];
  return folders.flatMap((folder) =>
    readdirSync(join(objects, folder))
      .filter((name) => /^[\da-f]+$/.test(name))
      .map((name) => `${folder}${name}`),
  );
}
