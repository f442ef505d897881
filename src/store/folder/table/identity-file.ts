import { readFileSync } from 'node:fs';
import { type IdentityBasis, NO_BASIS } from '../../../core/model/identity-basis.ts';
import type { Table } from '../../../formats/table.ts';
import { replaceInside } from '../files/inside.ts';
import type { ShiftPaths } from '../layout.ts';
import { Identities } from './identities.ts';

/** Like the journal, no status depends on it: it may be missing or damaged. Read and written under the lock. */
export function readBasis(file: string): IdentityBasis {
  try {
    const { names, added, kept } = JSON.parse(readFileSync(file, 'utf8'));
    return { names: new Map(names), added: new Set(added), kept: new Map(kept) };
  } catch {
    return NO_BASIS;
  }
}

export async function writeBasis(paths: ShiftPaths, { names, added, kept }: IdentityBasis): Promise<void> {
  const text = JSON.stringify({ names: [...names], added: [...added], kept: [...kept] });
  await replaceInside({ base: paths.folder }, paths.identity, Buffer.from(text));
}

/** The identities, as every program derives them from the table now. */
export function identitiesOf(
  { identity }: ShiftPaths,
  table: Table,
  statusAndOutputs: ReadonlySet<string>,
): Identities {
  return new Identities(table, statusAndOutputs, [], readBasis(identity));
}
