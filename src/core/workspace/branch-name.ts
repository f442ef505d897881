/** Long names break file systems and screens. */
const LONGEST_SLUG = 48;

/** A short name for a row in folders and branches: letters, digits and hyphens. Falls back to its number. */
export function slugOf(label: string, row: number): string {
  const plain = label.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_SLUG)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? `row-${row}` : slug;
}

/** Rows with the same label get different names; `id` is the item's, so that the name does not depend on the order. */
export function uniqueSlug(slug: string, id: string, isTaken: (slug: string) => boolean): string {
  if (!isTaken(slug)) return slug;
  for (let length = 6; length < id.length; length += 2) {
    const longer = `${slug}-${id.slice(0, length).replace(/[^a-z0-9]/gi, '')}`;
    if (!isTaken(longer)) return longer;
  }
  return `${slug}-${id.replace(/[^a-z0-9]/gi, '-')}`;
}

export function branchOf(shift: string, slug: string): string {
  return `nightshift/${shift}/${slug}`;
}

/** Whether a branch has the name that some shift gives to the branches of its rows. */
export function isOfShift(branch: string): boolean {
  return branch.startsWith('nightshift/');
}

/** Why git refuses a name for a branch; undefined if it takes it. */
export function branchProblem(name: string): string | undefined {
  if (name === '' || name === '@' || name === 'HEAD') return 'is not a name';
  if (name.startsWith('-')) return 'begins with -';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them in names.
  const bad = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{/.exec(name)?.[0];
  if (bad !== undefined) return bad === ' ' ? 'has a space in it' : `has ${JSON.stringify(bad)} in it`;
  const part = name.split('/').find((each) => each === '' || /^\.|\.$|\.lock$/.test(each));
  if (part === '') return 'has an empty part between slashes';
  return part === undefined ? undefined : `has the part ${part}, which begins or ends with a dot, or ends with .lock`;
}

/** Where `deliver: merge` puts results, unless `into` says otherwise. */
export function mergedBranch(shift: string): string {
  return branchOf(shift, 'merged');
}

/** `test-task` works in a workspace of its own, so that the one of the row stays as it is. */
export function testId(id: string): string {
  return `test-${id}`;
}

export function isTestId(id: string): boolean {
  return testedId(id) !== undefined;
}

/** The item that is tested; undefined: it is no test. */
export function testedId(id: string): string | undefined {
  return /^test-(.*)$/s.exec(id)?.[1];
}
