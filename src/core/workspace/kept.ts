import type { WorkspaceKind } from './plan.ts';

/** How many rows or folders a sentence names. */
const NAMED = 10;

/** `row 2`, or `rows 2, 3, 5`, with the first of many. */
export function rowList(rows: readonly number[]): string {
  const more = rows.length > NAMED ? ` and ${rows.length - NAMED} more` : '';
  return rows.length === 1 ? `row ${rows[0]}` : `rows ${rows.slice(0, NAMED).join(', ')}${more}`;
}

/**
 * A sentence if rows still have a workspace of another kind than the shift asks for now. A workspace that exists is
 * used as it is until it is removed. `wanted`: undefined if tasks work in `working-dir` itself.
 */
export function keptWorkspaces(
  existing: readonly { readonly row: number; readonly kind: WorkspaceKind }[],
  wanted: WorkspaceKind | undefined,
): string | undefined {
  const others = existing.filter(({ kind }) => kind !== wanted);
  if (others.length === 0) return undefined;
  const who = `${rowList(others.map(({ row }) => row))} ${others.length === 1 ? 'has' : 'have'}`;
  const kinds = [...new Set(others.map(({ kind }) => `\`${kind}\``))].join(' and ');
  return wanted === undefined
    ? `\`workspace\` is \`shared\` now, but ${who} a workspace (${kinds}): this run does not use it, and what it holds is kept`
    : `\`workspace\` is \`${wanted}\` now, but ${who} a workspace (${kinds}), which is used until you remove it`;
}

/**
 * What is left of a shift outside of its folder. `held`: results that wait for `nightshift deliver`. `kept`: other
 * workspaces whose folder is there.
 */
export interface KeptWorkspaces {
  readonly kept: number;
  readonly held: number;
}

/** A sentence if workspaces belong to rows that are no longer in the table. */
export function workspacesWithoutRow(kept: readonly { readonly folder: string }[]): string | undefined {
  if (kept.length === 0) return undefined;
  const folders = kept.slice(0, NAMED).map(({ folder }) => folder);
  const more = kept.length > NAMED ? ` and ${kept.length - NAMED} more` : '';
  return `the table no longer has the rows of these workspaces, which are kept: ${folders.join(', ')}${more}`;
}
