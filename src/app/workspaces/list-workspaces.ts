import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RowLabels } from '../../core/model/row-labels.ts';
import { countsOf } from '../../core/workspace/change.ts';
import { standingOf } from '../../core/workspace/state.ts';
import { isStale, readBatch } from '../../store/folder/batch-file.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { FolderWorkspaceRecords } from '../../store/folder/workspace-records.ts';
import { type OpenShift, openAndCheck } from '../open-shift.ts';
import { currentRun } from '../run/follow-run.ts';
import { workspaceGit } from '../run/workspace-git.ts';
import type { World } from '../world.ts';
import { type Examined, examine, type Surroundings } from './examine.ts';
import { folderSize } from './folder-size.ts';
import type { WorkspaceReport } from './report.ts';

/** How many workspaces are read at once. */
const AT_ONCE = 4;

export interface WorkspaceList {
  readonly shift: string;
  /** `bytes`: on disk. */
  readonly workspaces: readonly (WorkspaceReport & { readonly bytes: number })[];
  /** How many were delivered and removed. */
  readonly removed: number;
  /** Files that are not records. */
  readonly warnings: readonly string[];
}

export async function listWorkspaces(world: World, paths: ShiftPaths): Promise<WorkspaceList> {
  const warnings: string[] = [];
  using around = surroundings(world, paths, await openAndCheck(paths));
  const records = await new FolderWorkspaceRecords(paths, (message) => warnings.push(message)).all();
  const there = records.filter(({ state, delivery }) => state !== 'removed' || delivery?.state !== 'done');
  const workspaces = await inTurn(there, async (record) => {
    const report = reportOf(await examine(around, record));
    return { ...report, bytes: await folderSize(record.folder) };
  });
  return { shift: paths.name, workspaces, removed: records.length - there.length, warnings };
}

/** The workspace of one item; undefined if it has none. */
export async function readWorkspace(
  world: World,
  paths: ShiftPaths,
  opened: Pick<OpenShift, 'shift' | 'snapshot'>,
  id: string,
): Promise<WorkspaceReport | undefined> {
  const record = await new FolderWorkspaceRecords(paths).read(id);
  if (!record) return undefined;
  using around = surroundings(world, paths, opened);
  return reportOf(await examine(around, record));
}

export function surroundings(
  world: World,
  paths: ShiftPaths,
  { shift, snapshot }: Pick<OpenShift, 'shift' | 'snapshot'>,
): Surroundings & Disposable {
  const batch = readBatch(paths);
  // Not the copies of a run: those are of its start, and it uses them.
  const copies = mkdtempSync(join(tmpdir(), 'nightshift-git-'));
  return {
    paths,
    git: workspaceGit({ root: paths.root, copies, world }),
    snapshot,
    label: RowLabels.in(shift, snapshot),
    isRunning: currentRun(paths) !== undefined || (batch !== undefined && !isStale(batch, world.now())),
    signal: new AbortController().signal,
    [Symbol.dispose]: () => rmSync(copies, { recursive: true, force: true }),
  };
}

export function reportOf({ record, row, label, facts, change, obstacle }: Examined): WorkspaceReport {
  const { kind, folder, from, branch, base, delivery, slug } = record;
  const { state, why } = standingOf(facts);
  const reason = obstacle ?? why;
  return {
    row,
    name: label ?? slug,
    isTest: facts.row === 'test',
    kind,
    folder,
    from,
    branch,
    base: base ?? null,
    state,
    ...(reason === undefined ? {} : { why: reason }),
    change: change === undefined ? null : countsOf(change),
    ...(delivery === undefined ? {} : { delivery }),
  };
}

/** A few at once, and the results in order. */
export async function inTurn<T, R>(all: readonly T[], work: (each: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    results.push(...(await Promise.all(all.slice(at, at + AT_ONCE).map(work))));
  }
  return results;
}
