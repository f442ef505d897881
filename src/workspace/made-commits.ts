import { isFolder } from './enter.ts';
import { type Git, type GitCall, tryGit } from './git.ts';
import type { WorkspaceRecord } from './records.ts';
import { environmentIn, inSource, type Source } from './source.ts';
import { gitDirOf, safely } from './worktree.ts';

/** How git notes a commit that it makes, after its name. A commit that is only checked out is not made there. */
const MADE = /^\w+ (commit\b|cherry-pick\b|revert\b|am\b|rebase.*\(pick\)|.*: Merge made by )/;

const NOTES = ['log', '--walk-reflogs', '--format=%H %gs', 'HEAD', '--'];

/** The commits that were made in a workspace, as far as git has noted them there. */
export async function commitsMadeIn(
  git: Git,
  record: Pick<WorkspaceRecord, 'kind' | 'folder'>,
  source: Source | undefined,
): Promise<ReadonlySet<string>> {
  const call = source && isFolder(record.folder) ? callIn(record, source) : undefined;
  const lines = (call && (await tryGit(git, "git can't read which commits were made", call)))?.split('\n') ?? [];
  return new Set(lines.filter((line) => MADE.test(line)).map((line) => line.slice(0, line.indexOf(' '))));
}

function callIn({ kind, folder }: Pick<WorkspaceRecord, 'kind' | 'folder'>, source: Source): GitCall | undefined {
  const { signal } = new AbortController();
  if (kind === 'clone') return { folder, args: [...safely(source), ...NOTES], signal };
  const gitDir = gitDirOf(source, folder);
  if (gitDir === undefined) return undefined;
  return { ...inSource(source, NOTES, signal), env: environmentIn(source, gitDir) };
}
