/** What is outside of the workspaces of a repository, by name: each with a mark that changes whenever it does. */
export type OutsideState = ReadonlyMap<string, string>;

/** `name`: a path in the repository, or what stands for it: `.git/config user.name`, `refs/heads/main`. */
export interface OutsideChange {
  readonly repository: string;
  readonly name: string;
}

/** Branches that are new harm nothing. */
export function outsideChanges(repository: string, before: OutsideState, after: OutsideState): OutsideChange[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names]
    .filter((name) => before.get(name) !== after.get(name))
    .filter((name) => before.has(name) || !name.startsWith('refs/'))
    .sort()
    .map((name) => ({ repository, name }));
}

/**
 * Whether the input of a tool call shows that it made a change: it names the main checkout and the file, or it is the
 * git command for it. A path relative to a workspace is the agent's own file.
 */
export function showsChange(call: string, { repository, name }: OutsideChange): boolean {
  const last = name.slice(name.lastIndexOf('/') + 1);
  if (name.startsWith('refs/')) return MOVES_BRANCHES.test(call) && call.includes(last);
  if (/^\.git\/config( |$)/.test(name)) return /\bgit\b.*\bconfig\b/s.test(call) || call.includes('.git/config');
  return call.includes(repository) && (call.includes(last) || IN_GENERAL.test(call));
}

const MOVES_BRANCHES =
  /\bgit\b.*(\bupdate-ref\b|\bbranch\s+-|\bcheckout\s+-B|\bswitch\s+-C|\breset\b|\bpush\b|\bcommit\b)/s;
const IN_GENERAL = /\bgit\b.*\b(reset|checkout|switch|clean|stash|restore|add|rm|commit|apply)\b/s;

const NAMED = 5;

export function namesOf(changes: readonly OutsideChange[]): string {
  const names = changes.slice(0, NAMED).map(({ name }) => name);
  return `${names.join(', ')}${changes.length > NAMED ? ` and ${changes.length - NAMED} more` : ''}`;
}
