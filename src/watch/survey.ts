import { basename, sep } from 'node:path';
import { changedFiles, type Inventory, takeContents, takeInventory } from './inventory.ts';
import { type FoundFiles, findBelow, findNamed, isTooMany, MOST_FILES } from './listing.ts';
import { isLeftBeside, isOfTool } from './noise.ts';
import {
  type Git,
  isBelow,
  type Listing,
  listRepository,
  openRepository,
  type Repository,
  rulesBehind,
  withoutSlash,
} from './repository.ts';

/** Which files are watched. */
export interface Scope {
  readonly folder: string;
  /** The repository that the folder is in; undefined outside of git. */
  readonly repository: Repository | undefined;
  readonly protect: readonly string[];
  /** A folder that is skipped with its content. */
  readonly leftOut: string;
  /** Ignore rules that a qa made earlier in this run, and what they hide: they have no effect. */
  readonly distrusted: ReadonlySet<string>;
  readonly git: Git;
  readonly signal: AbortSignal;
}

/** A unit of the survey: a repository, which git lists, or a folder, which is walked. */
type WatchedRoot = Repository | string;

/** The watched files at one moment. */
export interface Survey {
  readonly files: Inventory;
  /** Files that decide what git lists. */
  readonly rules: Inventory;
  /** Without a listing if git lists nothing. */
  readonly places: ReadonlyMap<WatchedRoot, Listing | undefined>;
  /** Earlier roots that git can't list now. */
  readonly broken: readonly string[];
}

/** Why a folder can't be surveyed. */
export class SurveyFailure {
  readonly kind: 'size' | 'git';
  readonly where: string;

  constructor(kind: 'size' | 'git', where: string) {
    this.kind = kind;
    this.where = where;
  }
}

/** Nested repositories and folders that git does not list. With more, nothing is watched. */
const MOST_PLACES = 200;

export function surveyBefore(scope: Scope): Promise<Survey | SurveyFailure> {
  return survey(scope, [scope.repository ?? scope.folder]);
}

/** The same roots by the same rules. A repository created since is named, not listed. */
export function surveyAfter(scope: Scope, before: Survey): Promise<Survey | SurveyFailure> {
  return survey(scope, [...before.places.keys()], before);
}

async function survey(scope: Scope, left: WatchedRoot[], before?: Survey): Promise<Survey | SurveyFailure> {
  const { folder, git, signal } = scope;
  const files: Inventory = new Map();
  const places = new Map<WatchedRoot, Listing | undefined>();
  const broken: string[] = [];
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const listing = typeof place === 'string' ? undefined : await listRepository(git, place, signal);
    if (listing === 'not-run') return new SurveyFailure('git', `in ${folder}: git can't list its files`);
    if (listing === 'refused') {
      const { top } = place as Repository;
      if (before) broken.push(`${top}/.git`);
      else left.push(top);
      continue;
    }
    places.set(place, listing);
    if (places.size > MOST_PLACES) {
      return new SurveyFailure('size', `in ${folder}: there are more than ${MOST_PLACES} repositories`);
    }
    const marks = listing
      ? await markListed(scope, place as Repository, listing)
      : await markWalked(scope, place as string, before);
    if (marks instanceof SurveyFailure) return marks;
    for (const [file, mark] of marks) {
      files.set(file, mark);
      if (mark === 'folder' && !before) left.push(await placeAt(scope, file));
    }
  }
  const named = await markProtected(scope);
  if (named instanceof SurveyFailure) return named;
  for (const [file, mark] of named) files.set(file, mark);
  const rules = await takeContents(ruleFiles((before ?? { places }).places), signal);
  return { files, rules, places, broken };
}

/** A folder that git names but does not walk: a submodule, another repository, or a remnant of one. */
async function placeAt({ git, distrusted, signal }: Scope, folder: string): Promise<WatchedRoot> {
  if (distrusted.has(folder)) return folder;
  const repository = await openRepository(git, folder, signal);
  return repository?.top === folder ? repository : folder;
}

/** Absolute paths of added, changed and removed files, in order; and those among them that change what git lists. */
export async function changesBetween(
  scope: Scope,
  before: Survey,
  after: Survey,
): Promise<{ files: string[]; rules: string[] }> {
  const changed = changedFiles(before.files, after.files);
  const rules = [
    // A new repository has rules of its own.
    ...changed.filter((file) => basename(file) === '.gitignore' || after.files.get(file) === 'folder'),
    ...changedFiles(before.rules, after.rules),
    ...after.broken,
  ];
  for (const [place, then] of before.places) {
    const now = after.places.get(place);
    if (then && now) rules.push(...(await newlyHidden(scope, place as Repository, { before, then, now })));
  }
  const isWatched = (file: string) => !isWithin(file, scope.leftOut) && !isLeftBeside(file);
  return { files: [...new Set([...changed, ...rules])].filter(isWatched).sort(), rules };
}

/**
 * What is ignored now because of new rules: a `.gitignore` can hide itself together with its folder, and nothing else
 * would show it.
 */
async function newlyHidden(
  { git, signal }: Scope,
  repository: Repository,
  { before, then, now }: { before: Survey; then: Listing; now: Listing },
): Promise<string[]> {
  const isNew = (path: string) => !then.ignored.has(path) && !isBelow(path, then.ignored);
  const fresh = [...now.ignored].filter(isNew);
  const behind = await rulesBehind(git, repository, fresh, signal);
  const isKnown = (rules: string | undefined) =>
    rules !== undefined && (before.files.has(rules) || before.rules.has(rules));
  return fresh.filter((path) => behind && !isKnown(behind.get(path))).map(withoutSlash);
}

/** All of a folder, except for its repositories. */
async function markWalked(
  { leftOut, signal }: Scope,
  top: string,
  before?: Survey,
): Promise<Inventory | SurveyFailure> {
  const found: FoundFiles = { files: new Set(), folders: 0, leftOut };
  const tops = before && [...before.places.keys()].map((place) => (typeof place === 'string' ? place : place.top));
  const repositories = new Set<string>();
  await findBelow(top, found, { top, known: tops && new Set(tops), repositories });
  if (isTooMany(found)) return new SurveyFailure('size', `in ${top}: there are more than ${MOST_FILES} files`);
  return takeInventory([...found.files, ...repositories], signal);
}

async function markProtected({ folder, protect, leftOut, signal }: Scope): Promise<Inventory | SurveyFailure> {
  const found: FoundFiles = { files: new Set(), folders: 0, leftOut };
  for (const glob of protect) await findNamed(folder, glob, found);
  if (!isTooMany(found)) return takeInventory(found.files, signal);
  return new SurveyFailure('size', `in what \`protect\` names in ${folder}: there are more than ${MOST_FILES} files`);
}

async function markListed(scope: Scope, repository: Repository, listing: Listing): Promise<Inventory> {
  const watched = listing.files.filter((file) => !isWithin(file, scope.leftOut));
  return takeInventory([...watched, ...(await unhidden(scope, repository, listing))], scope.signal);
}

/** What git ignores because of rules that are not trusted, or that only this machine has. */
async function unhidden(scope: Scope, repository: Repository, { ignored }: Listing): Promise<Iterable<string>> {
  const { distrusted, leftOut, git, signal } = scope;
  const behind = await rulesBehind(git, repository, [...ignored], signal);
  const isHidden = (path: string) => distrusted.has(withoutSlash(path)) || distrusted.has(behind?.get(path) ?? '');
  const isOwn = (path: string) => repository.own.has(behind?.get(path) ?? '') && !isOfTool(path);
  const found: FoundFiles = { files: new Set(), folders: 0, leftOut };
  for (const path of ignored) if (isHidden(path)) await findBelow(withoutSlash(path), found);
  const own: FoundFiles = { files: new Set(), folders: 0, leftOut };
  for (const path of ignored) if (isOwn(path)) await findBelow(withoutSlash(path), own);
  // Half a list would be another half the next time.
  return isTooMany(own) ? found.files : new Set([...found.files, ...[...own.files].filter((path) => !isOfTool(path))]);
}

function ruleFiles(places: Survey['places']): Set<string> {
  const files = new Set<string>();
  for (const [place, listing] of places) {
    if (typeof place === 'object') for (const file of place.rules) files.add(file);
    // A file that ignores itself is not listed otherwise.
    for (const file of listing?.ignored ?? []) if (basename(file) === '.gitignore') files.add(file);
  }
  return files;
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
