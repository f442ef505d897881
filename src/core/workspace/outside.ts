/** What is outside of the workspaces at work, by name: each with a mark that changes whenever it does. */
export type OutsideState = ReadonlyMap<string, string>;

/** `workspace`: of a row that is not at work. `remote`: a repository on this machine that agents may push to. */
export interface OutsidePlace {
  readonly kind: 'repository' | 'workspace' | 'remote';
  readonly folder: string;
  /** For messages. */
  readonly label: string;
}

export interface OutsideChange {
  readonly place: OutsidePlace;
  /** A path in the place, or what stands for it: `.git/config user.name`, `refs/heads/main`. */
  readonly name: string;
  /** Its mark now, which is the commit of a branch. Undefined: it is gone. */
  readonly now: string | undefined;
}

const BRANCHES = 'refs/heads/';
export const BY_PUSH = ' (by a push)';

/** Branches that are new in a repository harm nothing. */
export function outsideChanges(place: OutsidePlace, before: OutsideState, after: OutsideState): OutsideChange[] {
  const isHarmless = (name: string) => place.kind === 'repository' && name.startsWith(BRANCHES) && !before.has(name);
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name) && !isHarmless(name))
    .sort()
    .map((name) => ({ place, name, now: after.get(name) }));
}

/** What is known of an attempt. */
export interface Evidence {
  /** The inputs of its tool calls that may have written. */
  readonly calls: readonly string[];
  /** What its agent runs, where that is known before: the scripts of the Steps. */
  readonly scripts: readonly string[];
  /** Those of the others that were at work. */
  readonly otherScripts: readonly string[];
  /** Commits that were made in its workspace. */
  readonly commits: ReadonlySet<string>;
  /** No other row was at work. */
  readonly isAlone: boolean;
}

/**
 * Whether it is shown that the attempt made a change. You may work in your checkout and push at any time, so that no
 * other row was at work shows only changes of what a run uses: hooks, settings, and workspaces of other rows.
 */
export function isShownBy(change: OutsideChange, evidence: Evidence): boolean {
  const { calls, scripts, otherScripts, commits, isAlone } = evidence;
  const isIn = (texts: readonly string[]) => texts.some((text) => showsChange(text, change));
  return (
    isIn(calls) ||
    (isIn(scripts) && !isIn(otherScripts)) ||
    (change.now !== undefined && commits.has(change.now)) ||
    (isAlone && !mayBeYours(change))
  );
}

function mayBeYours({ place, name }: OutsideChange): boolean {
  return place.kind === 'remote' || (place.kind === 'repository' && !name.startsWith('.git/'));
}

/**
 * Whether the input of a tool call, or a script, shows that it made a change: it names the place and the file, or it
 * is the git command for it. A path relative to a workspace is the agent's own file.
 */
export function showsChange(text: string, { place, name }: OutsideChange): boolean {
  if (place.kind === 'workspace') return namesWorkspace(text, place.folder);
  if (place.kind === 'remote' || name.endsWith(BY_PUSH)) return PUSHES.test(text);
  const isThere = text.includes(place.folder);
  if (name.startsWith(BRANCHES)) {
    const isMoved = MOVES_BRANCHES.test(text) && namesBranch(text, name.slice(BRANCHES.length));
    return isMoved || (isThere && IN_GENERAL.test(text));
  }
  if (/^\.git\/config( |$)/.test(name)) return /\bgit\b.*\bconfig\b/s.test(text) || text.includes('.git/config');
  return isThere && (text.includes(lastOf(name)) || IN_GENERAL.test(text));
}

const PUSHES = /\bgit\b.*\bpush\b/s;
/** Also from a workspace: a commit or a reset moves only its own branch. */
const MOVES_BRANCHES = /\bgit\b.*(\bupdate-ref\b|\bbranch\s+-|\bcheckout\s+-B|\bswitch\s+-C|\bpush\b)/s;
const IN_GENERAL = /\bgit\b.*\b(reset|checkout|switch|clean|stash|restore|add|rm|commit|apply)\b/s;

/** By its own name, or as `refs/heads/NAME`. */
function namesBranch(text: string, branch: string): boolean {
  return text.split(/[^\w./-]+/).some((word) => word === branch || word === `${BRANCHES}${branch}`);
}

/** Whether a text names the folder of a workspace: its path, or beside another one as `../NAME`. */
export function namesWorkspace(text: string, folder: string): boolean {
  return [folder, `../${lastOf(folder)}`].some((path) => {
    for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
      if (!/[\w.-]/.test(text.charAt(at + path.length))) return true;
    }
    return false;
  });
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

const NAMED = 5;

/** The changes of each place, as a list of their names. */
export function namesByPlace(changes: readonly OutsideChange[]): { readonly label: string; readonly names: string }[] {
  const labels = [...new Set(changes.map(({ place }) => place.label))];
  return labels.map((label) => ({ label, names: namesOf(changes.filter(({ place }) => place.label === label)) }));
}

export function namesOf(changes: readonly OutsideChange[]): string {
  const names = changes.slice(0, NAMED).map(({ name }) => name);
  return `${names.join(', ')}${changes.length > NAMED ? ` and ${changes.length - NAMED} more` : ''}`;
}
