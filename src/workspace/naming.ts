import { createHash } from 'node:crypto';
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { branchOf, slugOf, uniqueSlug } from '../core/workspace/branch-name.ts';
import type { WorkspaceRequest } from '../core/workspace/workspaces.ts';
import { NotThere } from './base.ts';
import { askGit, type Git } from './git.ts';
import type { Origin } from './origin.ts';
import type { WorkspaceRecord, WorkspaceRecords } from './records.ts';
import { inSource } from './source.ts';

export type Names = Pick<WorkspaceRecord, 'slug' | 'folder' | 'branch'>;

type Named = Names & Pick<WorkspaceRecord, 'id' | 'from'>;

/**
 * The names of all workspaces of a shift. The records are read once: a run with 10,000 rows would read 10,000 files for
 * each of them. Only the process that has the run lock makes workspaces, so no name is missing here. One whose record
 * was removed since is not used again.
 */
export class KnownNames {
  readonly #records: Pick<WorkspaceRecords, 'all'>;
  #named: Promise<Map<string, Named>> | undefined;

  constructor(records: Pick<WorkspaceRecords, 'all'>) {
    this.#records = records;
  }

  async ofOthers(id: string): Promise<Named[]> {
    return [...(await this.#read()).values()].filter((named) => named.id !== id);
  }

  async add({ id, slug, folder, branch, from }: Named): Promise<void> {
    (await this.#read()).set(id, { id, slug, folder, branch, from });
  }

  #read(): Promise<Map<string, Named>> {
    this.#named ??= this.#records
      .all()
      .then(
        (all) => new Map(all.map(({ id, slug, folder, branch, from }) => [id, { id, slug, folder, branch, from }])),
      );
    return this.#named;
  }
}

export interface NamingOptions {
  readonly git: Git;
  readonly shift: string;
  /** The project. */
  readonly root: string;
  /** The default of `workspaces-dir`. */
  readonly workspaces: string;
}

/** The names of a workspace, readable, and different from those of all others. */
export async function nameWorkspace(
  { git, shift, root, workspaces }: NamingOptions,
  { item, folder, branch, signal }: WorkspaceRequest,
  { origin, known }: { readonly origin: Origin; readonly known: KnownNames },
): Promise<Names> {
  const others = await known.ofOthers(item.id);
  const slug = uniqueSlug(slugOf(item.label ?? '', item.row), item.id, (name) =>
    others.some((record) => record.slug === name),
  );
  const parent = parentOf(folder ?? workspaces, root, shift);
  refuseInside(parent, [origin.from, origin.source?.commonDir, join(root, '.nightshift')]);
  const isFolderTaken = (path: string) =>
    others.some((record) => record.folder === path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  const wanted = branch ?? branchOf(shift, slug);
  const taken = await branchesLike(git, origin, wanted, signal);
  const isBranchTaken = (name: string) =>
    taken.has(name) || others.some((record) => record.branch === name && record.from === origin.from);
  return {
    slug,
    folder: firstFree(join(parent, `${item.row}-${slug}`), isFolderTaken),
    branch: firstFree(wanted, isBranchTaken),
  };
}

/**
 * The folder that has the workspaces of a shift, below `workspaces-dir`. That may be relative to the project, and begin
 * with `~`.
 */
export function parentOf(workspacesDir: string, root: string, shift: string): string {
  const written = workspacesDir.replace(/^~(?=\/|$)/, homedir());
  return join(realOf(resolve(root, written)), projectName(root), shift);
}

function firstFree(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let n = 2; isTaken(free); n++) free = `${name}-${n}`;
  return free;
}

/** Two projects of the same name have different folders. */
function projectName(root: string): string {
  const hash = createHash('sha256').update(root).digest('hex').slice(0, 6);
  return `${basename(root).replace(/[^\w.-]/g, '-') || 'project'}-${hash}`;
}

/** The real path of a folder that may not be there yet. */
function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realOf(dirname(path)), basename(path));
}

function refuseInside(folder: string, places: readonly (string | undefined)[]): void {
  const place = places.find((each) => each !== undefined && `${folder}${sep}`.startsWith(`${each}${sep}`));
  if (place !== undefined) throw new NotThere(`\`workspaces-dir\` must be outside of ${place}`);
}

/** Branches of the repository that begin with a name, or that forbid it (`a` forbids `a/b`). Checks the name. */
async function branchesLike(
  git: Git,
  { source }: Origin,
  name: string,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (source === undefined) return new Set();
  const checked = await git.run(inSource(source, ['check-ref-format', `refs/heads/${name}`], signal));
  if (checked.kind === 'refused' || name.startsWith('-')) {
    throw new NotThere(`\`branch: ${name}\` is not a name that git allows`);
  }
  const args = ['for-each-ref', '--format=%(refname:lstrip=2)', `refs/heads/${name}*`, `refs/heads/${name}/`];
  const listed = await askGit(git, "git can't list branches", inSource(source, args, signal));
  const found = new Set(listed.split('\n').filter((each) => each !== ''));
  if ([...found].some((each) => each.startsWith(`${name}/`))) found.add(name);
  return found;
}
