import type { Looking, WorkspaceProblem } from './requirements.ts';

/** What can't travel to the workers of a fleet. `top`: of the repository of a worktree. */
export async function fleetProblems(looking: Looking, top: string | undefined): Promise<WorkspaceProblem[]> {
  const { kind, include } = looking.shift.workspace!;
  if (kind === 'copy') {
    const message = '`workspace: copy` is not possible in a fleet: workers do not have the folder that is copied';
    return [{ key: 'workspace', message, remedy: 'use `workspace: worktree` or `clone`, or start without --fleet' }];
  }
  const [included] = include;
  if (included !== undefined) {
    const { path } = included;
    const message = `\`include: ${path}\` is not possible in a fleet: only this machine has files that git does not track`;
    return [{ key: 'include', message, remedy: 'commit them, or make them in `setup`, which runs on each worker' }];
  }
  return kind === 'worktree' && top !== undefined ? noRelay(looking, top) : [];
}

/** Results go over it from worker to worker, and to this machine. */
async function noRelay({ git, signal }: Looking, top: string): Promise<WorkspaceProblem[]> {
  const listed = await git.run({ folder: top, args: ['remote'], signal });
  if (listed.kind !== 'done') return [];
  const remotes = listed.text.split('\n').filter((name) => name !== '');
  if (remotes.includes('origin') || remotes.length === 1) return [];
  const why = remotes.length === 0 ? 'has no remote' : `has no remote \`origin\`, but ${remotes.join(', ')}`;
  const message = `in a fleet, \`workspace: worktree\` needs a remote that all machines can reach, but ${top} ${why}`;
  return [{ key: 'workspace', message, remedy: 'add one that you can push to: `git remote add origin ADDRESS`' }];
}
