/** Git with an index of its own, which it may overwrite. */
export type AskWithIndex = (args: readonly string[], input?: string) => Promise<string>;

/** Trees. */
export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly onto: string;
}

/**
 * The tree `onto`, in which each file that differs between `from` and `to` is as it is in `to`. Whole files: one that
 * was changed on both sides is never mixed, so a file of the result is one that somebody has seen.
 */
export async function transferFiles(ask: AskWithIndex, { from, to, onto }: Transfer): Promise<string> {
  if (from === onto || from === to) return from === to ? onto : to;
  const plainly = ['--no-renames', '--ignore-submodules=none', '-z'];
  const fields = (await ask(['diff-tree', '-r', ...plainly, from, to])).split('\0');
  const entries: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = '', object = ''] = /^:\d+ (\d+) \w+ (\w+)/.exec(fields[at]!) ?? [];
    entries.push(`${mode === '000000' ? '0' : mode} ${object}\t${fields[at + 1]!}\0`);
  }
  // What is removed goes first: a file may take the place of a folder.
  const sorted = entries.toSorted((a, b) => Number(b.startsWith('0 ')) - Number(a.startsWith('0 ')));
  await ask(['read-tree', onto]);
  await ask(['update-index', '-z', '--index-info'], sorted.join(''));
  return (await ask(['write-tree'])).trim();
}

/** Reads trees: a desk, or someone who only looks. */
export interface TreeReader {
  /** Undefined for a commit that is not there. Without a commit: the empty tree. */
  treeOf(commit: string | undefined): Promise<string | undefined>;
  transfer(transfer: Transfer): Promise<string>;
}

/**
 * The change of a row, as a tree on top of its base. Its agents began with what `setup` had left: a file that they did
 * not touch is as it is in the base, and one that they changed is as they left it.
 */
export async function changeOf(
  trees: TreeReader,
  { base, prepared }: { readonly base: string | undefined; readonly prepared?: string },
  files: string,
): Promise<string> {
  if (prepared === undefined) return files;
  const [from, onto] = [await trees.treeOf(prepared), await trees.treeOf(base)];
  return from === undefined || onto === undefined ? files : trees.transfer({ from, to: files, onto });
}
