import type { ColumnChange } from './events.ts';

/**
 * Why an item keeps its id when a person changes the columns of metadata through a command (rule T7): the id is derived
 * from what the row was like before.
 */
export interface IdentityBasis {
  /** The name that counts, by the name that the column has now. */
  readonly names: ReadonlyMap<string, string>;
  /** Columns that came when there were items to remember: no part of an id. */
  readonly added: ReadonlySet<string>;
  /** Ids that a dropped column was part of, by what would be derived without it. */
  readonly kept: ReadonlyMap<string, string>;
}

export const NO_BASIS: IdentityBasis = { names: new Map(), added: new Set(), kept: new Map() };

/**
 * `header`: of the table before the change. What stood for the column before stays until the next change, so that ids
 * are right whether the table was written or the command was ended before that.
 */
export function basisAfter(basis: IdentityBasis, header: readonly string[], change: ColumnChange): IdentityBasis {
  const names = new Map([...basis.names].filter(([name]) => header.includes(name)));
  const added = new Set([...basis.added].filter((name) => header.includes(name)));
  const { kind, name } = change;
  if (kind === 'add' || (kind === 'rename' && added.has(name))) added.add(kind === 'add' ? name : change.to);
  else if (kind === 'rename') names.set(change.to, names.get(name) ?? name);
  return { names, added, kept: basis.kept };
}
