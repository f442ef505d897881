import { expandBraces, globMatcher } from '../text/glob.ts';

/** What an item changed, compared with its base. */
export interface Change {
  readonly files: readonly ChangedFile[];
}

export interface ChangedFile {
  readonly path: string;
  readonly kind: 'added' | 'changed' | 'removed';
  /** Lines; undefined for binary files. */
  readonly added?: number;
  readonly deleted?: number;
  /** Too large to be read: only its name is known. */
  readonly isTooLarge?: boolean;
}

/** Limits on a change; absent: none. Globs are relative to the folder that agents work in, as those of `protect:`. */
export interface ChangeLimits {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly maxFiles?: number;
  readonly maxLines?: number;
}

export function linesOf({ files }: Change): number {
  return files.reduce((sum, { added = 0, deleted = 0 }) => sum + added + deleted, 0);
}

export interface ChangeCounts {
  readonly files: number;
  /** Lines. */
  readonly added: number;
  readonly deleted: number;
  /** Files that are too large to be read; absent: none. */
  readonly tooLarge?: number;
}

export function countsOf({ files }: Change): ChangeCounts {
  const sum = (kind: 'added' | 'deleted') => files.reduce((lines, file) => lines + (file[kind] ?? 0), 0);
  const tooLarge = files.filter(({ isTooLarge }) => isTooLarge).length;
  const counts = { files: files.length, added: sum('added'), deleted: sum('deleted') };
  return tooLarge === 0 ? counts : { ...counts, tooLarge };
}

/** How many paths a reason names. */
const NAMED = 5;

/**
 * Why a change is not allowed; undefined if it is. `folder`: where agents work, relative to the top of the workspace.
 * `protect`: globs of files that must stay as they are.
 */
export function violationOf(
  change: Change,
  { allow, deny, maxFiles, maxLines }: ChangeLimits,
  { folder, protect }: { readonly folder: string; readonly protect: readonly string[] },
): string | undefined {
  const paths = change.files.map(({ path }) => path);
  const matching = (globs: readonly string[]) => {
    const isMatch = globMatcher(`/${folder}`, globs.flatMap(expandBraces));
    return (path: string) => isMatch(`/${path}`);
  };
  const edited = paths.filter(matching(protect));
  if (edited.length > 0) return `it changed ${named(edited)}, which \`protect\` forbids`;
  const denied = paths.filter(matching(deny));
  if (denied.length > 0) return `it changed ${named(denied)}, which \`deny-paths\` forbids`;
  const isAllowed = matching(allow);
  const outside = allow.length === 0 ? [] : paths.filter((path) => !isAllowed(path));
  if (outside.length > 0) return `it changed ${named(outside)}, and \`allow-paths\` allows only ${allow.join(', ')}`;
  if (maxFiles !== undefined && paths.length > maxFiles) {
    return `it changed ${paths.length} files, and \`max-files\` allows ${maxFiles}: ${named(paths)}`;
  }
  const lines = linesOf(change);
  if (maxLines !== undefined && lines > maxLines) {
    return `it changed ${lines} lines, and \`max-lines\` allows ${maxLines}`;
  }
  return undefined;
}

function named(paths: readonly string[]): string {
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : '';
  return `${paths.slice(0, NAMED).join(', ')}${more}`;
}

/** Reads `git diff --numstat -z` and `git diff --name-status -z`, both without renames. */
export function parseChange(numstat: string, nameStatus: string): Change {
  const lines = new Map<string, readonly [string, string]>();
  for (const entry of numstat.split('\0')) {
    const [, added = '', deleted = '', path = ''] = /^(\S+)\t(\S+)\t([\s\S]*)$/.exec(entry) ?? [];
    if (path !== '') lines.set(path, [added, deleted]);
  }
  const fields = nameStatus.split('\0');
  const files: ChangedFile[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [letter, path] = [fields[at]!, fields[at + 1]!];
    const kind = letter === 'A' ? 'added' : letter === 'D' ? 'removed' : 'changed';
    const [added = '-', deleted = '-'] = lines.get(path) ?? [];
    files.push({ path, kind, ...(added === '-' ? {} : { added: Number(added), deleted: Number(deleted) }) });
  }
  return { files };
}
