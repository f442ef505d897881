import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProtectedPlace } from '../core/model/protection.ts';
import { globMatcher } from '../core/text/glob.ts';
import { type FoundFiles, findBelow, findNamed, isTooMany, MOST_FILES } from './listing.ts';
import { type Git, listTracked, openRepository } from './repository.ts';
import { isWithin, SurveyFailure } from './survey.ts';

export interface ListingScope {
  /** The project. Links that lead out of it are held, but not their targets. */
  readonly root: string;
  readonly leftOut: string;
  readonly git: Git;
  readonly signal: AbortSignal;
}

export interface ProtectedListing {
  /** Absolute, with links resolved. */
  readonly files: ReadonlySet<string>;
  /** Only what git tracks is held: new files are free. */
  readonly isTracked: boolean;
}

/** The files that `protect:` names in a folder: those that git tracks; outside of git, all. */
export async function listProtected(
  scope: ListingScope,
  place: ProtectedPlace,
): Promise<ProtectedListing | SurveyFailure> {
  const repository = await openRepository(scope.git, place.folder, scope.signal);
  if (!repository && isInGit(place.folder)) return unlistable(place);
  if (!repository) {
    const found = await findMatching(scope, place);
    return found instanceof SurveyFailure ? found : { files: found, isTracked: false };
  }
  const tracked = await listTracked(scope.git, repository, scope.signal);
  if (tracked === undefined) return unlistable(place);
  const isNamed = globMatcher(place.folder, place.globs);
  const files = new Set<string>();
  for (const file of tracked.files) if (isNamed(file)) files.add(file);
  for (const link of tracked.links) await followTracked(scope, { link, tracked: tracked.files, isNamed }, files);
  const inProject = [...files].filter((file) => !isWithin(file, scope.leftOut));
  if (inProject.length > MOST_FILES) return tooMany(place);
  return { files: new Set(inProject), isTracked: true };
}

/** Outside of git, also to find added files. Links on the way are held with their targets. */
export async function findMatching(
  { leftOut, root }: ListingScope,
  place: ProtectedPlace,
): Promise<Set<string> | SurveyFailure> {
  const found: FoundFiles = { files: new Set(), folders: 0, leftOut };
  for (const glob of place.globs) await findNamed(place.folder, glob, found);
  const files = new Set<string>();
  for (const file of found.files) {
    for (const link of linksIn(place.folder, file)) files.add(link);
    const target = realPath(file);
    if (target === undefined || target === file) files.add(file);
    else if (isWithin(target, root) && !isWithin(target, leftOut)) await addBelow(target, files, leftOut);
  }
  return isTooMany(found) || files.size > MOST_FILES ? tooMany(place) : files;
}

function unlistable({ folder }: ProtectedPlace): SurveyFailure {
  return new SurveyFailure('git', `in ${folder}: git can't list its files`);
}

/** There is a repository, whether git can read it or not. For git, a folder without a HEAD is none. */
function isInGit(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    const git = join(at, '.git');
    if (existsSync(git) && (!isFolder(git) || existsSync(join(git, 'HEAD')))) return true;
    if (at === dirname(at)) return false;
  }
}

function tooMany({ folder }: ProtectedPlace): SurveyFailure {
  return new SurveyFailure('size', `in ${folder}: it names more than ${MOST_FILES} files`);
}

/** A tracked link stands for its target inside the project. */
async function followTracked(
  { root, leftOut }: ListingScope,
  { link, tracked, isNamed }: { link: string; tracked: readonly string[]; isNamed(path: string): boolean },
  files: Set<string>,
): Promise<void> {
  const target = realPath(link);
  if (target === undefined || !isWithin(target, root) || isWithin(target, leftOut)) return;
  if (!isFolder(target)) {
    if (isNamed(link)) files.add(target);
    return;
  }
  for (const file of tracked) {
    if (file === target || !isWithin(file, target) || !isNamed(link + file.slice(target.length))) continue;
    files.add(file);
    files.add(link);
  }
}

async function addBelow(path: string, files: Set<string>, leftOut: string): Promise<void> {
  const found: FoundFiles = { files: new Set(), folders: 0, leftOut };
  await findBelow(path, found);
  for (const file of found.files) files.add(file);
}

/** The links among a path and the folders above it. */
function linksIn(folder: string, file: string): string[] {
  const links: string[] = [];
  for (let path = file; path !== folder && isWithin(path, folder); path = dirname(path)) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) links.push(path);
  }
  return links;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
