import { testedId } from '../core/workspace/branch-name.ts';
import type { WorkspaceRequest } from '../core/workspace/workspaces.ts';
import { askGit, type Git } from './git.ts';
import type { Origin } from './origin.ts';
import { resultsBefore, type WorkspaceRecord, type WorkspaceRecords } from './records.ts';

/** What the row itself has of the tasks before the one that is tested. */
export type Earlier = Pick<WorkspaceRecord, 'id' | 'base'> & Required<Pick<WorkspaceRecord, 'results'>>;

/**
 * A test of a later task starts where the row is, in a workspace of its own. Undefined: it is no test, it has begun, or
 * the row has nothing to start from; then the results of earlier tests count.
 */
export async function findEarlier(
  records: WorkspaceRecords,
  { item, role, task, kind, isContinued }: WorkspaceRequest,
  { from }: Origin,
): Promise<Earlier | undefined> {
  const tested = testedId(item.id);
  if (tested === undefined || role === 'qa' || isContinued) return undefined;
  const record = await records.read(tested);
  if (record === undefined || record.kind !== kind || record.from !== from) return undefined;
  const results = resultsBefore(record.results ?? [], task);
  return results.length === 0 ? undefined : { id: tested, base: record.base, results };
}

/** Whether a test workspace holds them already. */
export function hasEarlier({ state, results = [] }: WorkspaceRecord, earlier: Earlier, task: string): boolean {
  const commit = resultsBefore(results, task).at(-1)?.commit;
  return state === 'ready' && commit === earlier.results.at(-1)!.commit;
}

/** Fetches the last result, which has the others as its parents, from one desk into another. */
export async function fetchEarlier(
  git: Git,
  { results }: Earlier,
  desks: { readonly from: string; readonly to: string },
  signal: AbortSignal,
): Promise<void> {
  const { task } = results.at(-1)!;
  const ref = `refs/nightshift/result/${task}`;
  await askGit(git, `the result of ${task} can't be read`, {
    folder: desks.to,
    args: [
      'fetch',
      '--quiet',
      '--no-write-fetch-head',
      '--no-tags',
      '--no-auto-maintenance',
      desks.from,
      `+${ref}:${ref}`,
    ],
    env: { GIT_DIR: desks.to, GIT_CONFIG_GLOBAL: '/dev/null' },
    signal,
  });
}
