import type { ColumnChange } from './table-edit.ts';

/**
 * Lets an item keep its id when metadata columns change through a command (rule T7): the id is derived from the
 * columns before the change.
 */
export interface IdentityBasis {
  /** The name that counts, by the current name of the column. */
  readonly names: ReadonlyMap<string, string>;
  /** Columns that were added later and are not part of an id. */
  readonly added: ReadonlySet<string>;
  /** Ids that a dropped column was part of, by the id that would be derived without it. */
  readonly kept: ReadonlyMap<string, string>;
}

export const NO_BASIS: IdentityBasis = { names: new Map(), added: new Set(), kept: new Map() };

/**
 * `metadata`: the metadata columns of the table. If all of them were added later, ids are derived from all of them.
 * A change must not alter which ones these are, so from now on they count as if they had always been there.
 */
export function settleBasis(basis: IdentityBasis, metadata: readonly string[]): IdentityBasis {
  return metadata.every((name) => basis.added.has(name)) ? { ...basis, added: new Set() } : basis;
}

/**
 * `header`: of the table before the change. `basis` is settled. The previous entry of the column stays until the next
 * change, so that ids are correct whether or not the command got to write the table.
 */
export function basisAfter(basis: IdentityBasis, header: readonly string[], change: ColumnChange): IdentityBasis {
  const names = new Map([...basis.names].filter(([name]) => header.includes(name)));
  const added = new Set([...basis.added].filter((name) => header.includes(name)));
  const { kind, name } = change;
  if (kind === 'add' || (kind === 'rename' && added.has(name))) added.add(kind === 'add' ? name : change.to);
  else if (kind === 'rename') names.set(change.to, names.get(name) ?? name);
  return { names, added, kept: basis.kept };
}
