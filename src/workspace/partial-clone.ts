import { join } from 'node:path';
import { Unreachable } from './base.ts';
import { askGit, FETCH, type Git } from './git.ts';
import type { Settings } from './settings.ts';
import type { Source } from './source.ts';

/** A level of folders each: what is in a missing folder is known when it is there. */
const MOST_ROUNDS = 100;

/** The remote that has what a partial clone (`git clone --filter`) lacks. Undefined: the repository is whole. */
export function promisorIn(settings: Settings): string | undefined {
  const found = settings.find(([key, value]) => PROMISOR.test(key) && /^(true|yes|on|1)$/i.test(value));
  return found && PROMISOR.exec(found[0])![1];
}

const PROMISOR = /^remote\.(.+)\.promisor$/s;

/** A desk, and the repository that it is over. */
interface DeskPlace {
  readonly desk: string;
  readonly source: Source | undefined;
}

/**
 * Fetches the files of a commit that a partial clone lacks, into the objects of the repository: git must not do it on
 * its own, because it would call what an agent may have configured. Throws a `GitFailure`.
 */
export async function fetchMissing(
  git: Git,
  { desk, source }: DeskPlace,
  commit: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const remote = source && promisorIn(source.settings);
  if (source === undefined || remote === undefined || commit === undefined) return;
  const env = { GIT_DIR: desk, GIT_CONFIG_GLOBAL: '/dev/null' };
  const list = ['rev-list', '--objects', '--no-object-names', '--missing=print', '--max-count=1', commit, '--'];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const call = { folder: desk, args: list, env, signal };
    const listed = await askGit(git, `git can't list the files of ${commit}`, call);
    const missing = listed.split('\n').flatMap((line) => (line.startsWith('?') ? [line.slice(1)] : []));
    if (missing.length === 0) return;
    const result = await git.run({
      folder: desk,
      args: ['-c', 'fetch.negotiationAlgorithm=noop', ...FETCH, '--filter=blob:none', '--stdin', remote],
      env: {
        ...env,
        GIT_OBJECT_DIRECTORY: join(source.commonDir, 'objects'),
        GIT_ALTERNATE_OBJECT_DIRECTORIES: join(desk, 'objects'),
      },
      input: `${missing.join('\n')}\n`,
      signal,
      isRemote: true,
    });
    const what = `${source.folder} is a partial clone, and its missing files can't be fetched from ${remote}`;
    if (result.kind !== 'done') throw new Unreachable(what, result);
  }
}
