import { existsSync } from 'node:fs';
import type { Git } from '../../workspace/git.ts';
import type { Reading, Span } from '../../workspace/reading.ts';
import type { WorkspaceRecord } from '../../workspace/records.ts';
import type { Surroundings } from './examine.ts';

/** The branch of the repository that holds a change already, however it came there. Undefined: none that is known. */
export async function findArrival(
  around: Surroundings,
  record: WorkspaceRecord,
  reading: Reading,
  span: Span,
): Promise<string | undefined> {
  const { git, paths, signal } = around;
  const { kind, from, folder, branch } = record;
  const repository = kind === 'worktree' ? from : folder;
  if (kind === 'copy' || !existsSync(repository)) return undefined;
  for (const ref of refsFor(kind, record.delivery?.text.into ?? `nightshift/${paths.name}/merged`)) {
    const found = await resolveRef(git, repository, ref, signal);
    // The branch of the workspace itself is no place where it has arrived.
    if (!found || found.name === branch) continue;
    if (await reading.isPartOf(span, found.commit)) return found.name;
  }
  return undefined;
}

/** A clone has only what was fetched; its own branches are the agent's. */
function refsFor(kind: WorkspaceRecord['kind'], into: string): string[] {
  const names = [into, 'main', 'master'];
  const remote = ['refs/remotes/origin/HEAD', ...names.map((name) => `refs/remotes/origin/${name}`)];
  return kind === 'clone' ? remote : ['HEAD', ...names.map((name) => `refs/heads/${name}`), ...remote];
}

async function resolveRef(
  git: Git,
  folder: string,
  ref: string,
  signal: AbortSignal,
): Promise<{ name: string; commit: string } | undefined> {
  const ask = async (...args: string[]) => {
    const result = await git.run({ folder, args, signal });
    return result.kind === 'done' ? result.text.trim() : undefined;
  };
  const commit = await ask('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`);
  if (commit === undefined) return undefined;
  const full = (await ask('symbolic-ref', '--quiet', ref)) ?? ref;
  return { name: full.replace(/^refs\/(heads|remotes)\//, ''), commit };
}
