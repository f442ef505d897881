import { join } from 'node:path';
import type { Desk } from './desk.ts';
import { moveAside } from './move-aside.ts';
import type { WorkspaceRecord } from './records.ts';
import type { Place, Trees } from './tree.ts';

/** Of the passes of a reset, the second finds what ignore rules hid, and the third nothing. */
const RESET_PASSES = 3;

interface ResetOptions {
  readonly trees: Trees;
  readonly signal: AbortSignal;
  /** Git in the workspace begins at `base` again, too. */
  readonly isRewound?: boolean;
}

/** Gives the files the content of a commit. What they held is kept. */
export async function resetFiles(
  place: Place,
  commit: string | undefined,
  { trees, signal, isRewound = false }: ResetOptions,
): Promise<void> {
  const { desk, record } = place;
  const wanted = await desk.treeOf(commit);
  let left: string | undefined;
  // More than once: files that an agent made git ignore are seen only when the ignore rules are back.
  for (let pass = 0; pass < RESET_PASSES; pass++) {
    const isSame = (await desk.tree(commit)) === wanted;
    const foreign = await desk.foreign(commit);
    if (isSame && foreign.length === 0) break;
    const isFirst = left === undefined;
    left = await keepLeft(place);
    for (const { path } of foreign) await moveAside(join(record.folder, path), join(desk.folder, left, path), signal);
    // Before the files: after a kill in between, they still show that there is something to reset.
    if (isRewound && isFirst) await trees.rewind(place, join(desk.folder, `${left}.git`), signal);
    await desk.checkOut(commit);
    await trees.addSubmodules(place, signal);
  }
  if (isRewound && left !== undefined) await trees.copyIndex(place, commit);
}

/** Keeps what an earlier claim left, under `refs/nightshift/left/`. */
export async function keepLeft({ record, desk }: Place): Promise<string> {
  const numbers = (await desk.kept('left/')).flatMap((name) => Number(/^left\/(\d+)$/.exec(name)?.[1] ?? 0));
  const name = `left/${Math.max(0, ...numbers) + 1}`;
  const parent = record.results?.at(-1)?.commit ?? record.prepared ?? record.base;
  await desk.keep(await desk.tree(parent), { name, parent, message: `What was left in ${record.folder}\n` });
  return name;
}

/**
 * Keeps what `setup` left: the change of the row is what differs from it. What can't be kept is never part of a change.
 * `commit`: the workspace is made again, with this content. Returns the record with both.
 */
export async function keepPrepared(
  desk: Desk,
  record: WorkspaceRecord,
  commit: string | undefined,
): Promise<WorkspaceRecord> {
  const { base, included = [] } = record;
  const tree = await desk.tree(commit ?? base);
  const known = { ...record, included: [...new Set([...included, ...desk.unread])] };
  if (commit !== undefined) await desk.checkOut(commit);
  if (commit !== undefined || tree === (await desk.treeOf(base))) return known;
  const prepared = await desk.keep(tree, { name: 'prepared', parent: base, message: 'What `setup` left\n' });
  return { ...known, prepared };
}
