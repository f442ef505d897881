import { isFolder } from './enter.ts';
import type { Git } from './git.ts';

/** How git notes a commit that it makes, after its name. A commit that is only checked out is not made there. */
const MADE = /^\w+ (commit\b|cherry-pick\b|revert\b|am\b|rebase.*\(pick\)|.*: Merge made by )/;

/** The commits that were made in a workspace, as far as git has noted them there. */
export async function commitsMadeIn(git: Git, folder: string): Promise<ReadonlySet<string>> {
  if (!isFolder(folder)) return new Set();
  const args = ['-c', 'core.hooksPath=/dev/null', 'log', '--walk-reflogs', '--format=%H %gs', 'HEAD', '--'];
  const listed = await git.run({ folder, args, signal: new AbortController().signal });
  const lines = listed.kind === 'done' ? listed.text.split('\n') : [];
  return new Set(lines.filter((line) => MADE.test(line)).map((line) => line.slice(0, line.indexOf(' '))));
}
