import { resolve } from 'node:path';
import { fillTemplate, resolveText } from '../../core/language/template.ts';
import { type Shift, valuesOf } from '../../core/model/shift.ts';
import { count } from '../../core/text/count.ts';
import type { Snapshot, Store } from '../../store/store.ts';
import type { Git } from '../../watch/repository.ts';
import type { World } from '../world.ts';
import { gitProgram } from './git-program.ts';

/** A repository that takes longer is passed over in silence: a run must not wait for a warning. */
const MOST_MS = 10_000;
const MOST_ROWS = 10_000;
const MOST_REPOSITORIES = 20;
/** How many repositories, and files of each, a line names. */
const NAMED = 3;

/** Lines about files that the worktrees of a run lack, because they are not committed. One that names `base` means it. */
export async function uncommittedLines(world: World, shift: Shift, store: Pick<Store, 'snapshot'>): Promise<string[]> {
  const { workspace, root } = shift;
  if (workspace?.kind !== 'worktree' || workspace.base !== undefined) return [];
  const git = gitProgram(root, world);
  const folders = workingFolders(shift, await store.snapshot());
  const found = await Promise.all(folders.map(async (folder) => ({ folder, state: await readState(git, folder) })));
  const empty = found.filter(({ state }) => state === 'no-commit');
  const dirty = found.flatMap(({ folder, state }) =>
    Array.isArray(state) && state.length > 0 ? { folder, state } : [],
  );
  return [
    ...empty.map(({ folder }) => `${folder} has no commit yet, so the worktrees of rows are empty: commit your files`),
    ...(dirty.length === 0
      ? []
      : [
          `worktrees don't have what is not committed in ${some(dirty.map(({ folder, state }) => `${folder} (${filesText(state)})`))}; ` +
            'commit it if rows need it',
        ]),
  ];
}

/** Of the rows of a shift, without doubles. */
function workingFolders(shift: Shift, snapshot: Snapshot): string[] {
  const task = shift.tasks.find(({ hasWorkspace }) => hasWorkspace);
  const folders = new Set<string>();
  for (let row = 0; task && row < Math.min(snapshot.count, MOST_ROWS) && folders.size < MOST_REPOSITORIES; row++) {
    const text = fillTemplate(task.workingDir, valuesOf(shift, snapshot.metadata(row)));
    folders.add(resolve(shift.root, resolveText(text, shift.secrets)));
  }
  return [...folders];
}

/** Files that git knows and that differ from the last commit. Others are not looked for: that takes long. */
async function readState(git: Git, folder: string): Promise<'no-commit' | string[] | undefined> {
  const signal = AbortSignal.timeout(MOST_MS);
  const args = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=no', '--ignore-submodules=all'];
  const status = await git.run({ folder, args: [...(await withoutFilters(git, folder, signal)), ...args], signal });
  if (status.kind !== 'printed') return undefined;
  const head = await git.run({ folder, args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], signal });
  if (head.kind === 'refused') return 'no-commit';
  const paths = status.text.split('\0').flatMap((entry) => (entry === '' ? [] : entry.slice('XY '.length)));
  // A shift may be committed, too, and its table changes all the time.
  return paths.filter((path) => !path.split('/').includes('.nightshift'));
}

/** Git would run the programs of filters to compare files, and an agent may have named them. */
async function withoutFilters(git: Git, folder: string, signal: AbortSignal): Promise<string[]> {
  const args = ['config', '--name-only', '-z', '--get-regexp', '^filter\\..*\\.(clean|process|required)$'];
  const found = await git.run({ folder, args, signal });
  const keys = found.kind === 'printed' ? found.text.split('\0').filter((key) => key !== '') : [];
  return [...new Set(keys)].flatMap((key) => ['-c', `${key}=${key.endsWith('.required') ? 'false' : ''}`]);
}

function filesText(paths: readonly string[]): string {
  return `${count(paths.length, 'file')}: ${some(paths)}`;
}

function some(texts: readonly string[]): string {
  const more = texts.length > NAMED ? ` and ${texts.length - NAMED} more` : '';
  return `${texts.slice(0, NAMED).join(', ')}${more}`;
}
