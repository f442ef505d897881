import { basename } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { mergedBranch } from '../../core/workspace/branch-name.ts';
import { isOverWhenDelivered } from '../../core/workspace/delivery.ts';
import { type Removal, removalOf } from '../../core/workspace/state.ts';
import { refuseOpenBatch } from '../../store/folder/batch-file.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { lockForCommand } from '../../store/folder/run-lock.ts';
import { FolderWorkspaceRecords } from '../../store/folder/workspace-records.ts';
import { Arrivals } from '../../workspace/arrivals.ts';
import type { WorkspaceRecord } from '../../workspace/records.ts';
import { openAndCheck } from '../open-shift.ts';
import { RunWorkspaces } from '../run/run-workspaces.ts';
import type { World } from '../world.ts';
import { examine, type Surroundings } from './examine.ts';
import { folderSize } from './folder-size.ts';
import { inTurn, reportOf, surroundings } from './list-workspaces.ts';
import type { WorkspaceReport } from './report.ts';

export interface PruneOptions {
  /** Only says what would be removed. */
  readonly isDry: boolean;
  /** These go whatever they hold (1-based), unless an agent works there. */
  readonly forced: readonly string[];
  /** Only the workspaces of these items; absent: all. */
  readonly only?: ReadonlySet<string>;
}

export interface PrunedWorkspace extends WorkspaceReport {
  readonly isRemoved: boolean;
  /** Why it is removed, or why not. */
  readonly because: string;
  readonly bytes: number;
}

export interface PruneResult {
  readonly shift: string;
  readonly isDry: boolean;
  readonly workspaces: readonly PrunedWorkspace[];
  readonly warnings: readonly string[];
}

/** Removes the workspaces that hold nothing that could be lost. Branches stay. */
export async function pruneWorkspaces(world: World, paths: ShiftPaths, options: PruneOptions): Promise<PruneResult> {
  if (options.isDry) return prune(world, paths, options);
  const now = world.now();
  refuseOpenBatch(paths, now);
  // No run starts meanwhile: it could claim a row whose workspace goes.
  using _lock = await lockForCommand(paths, 'prune', now);
  return await prune(world, paths, options);
}

/** The same for a caller that holds the run lock. */
export async function prune(
  world: World,
  paths: ShiftPaths,
  { isDry, forced, only }: PruneOptions,
): Promise<PruneResult> {
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);
  using around = surroundings(world, paths, await openAndCheck(paths));
  const all = await new FolderWorkspaceRecords(paths, warn).all();
  const records = all.filter(({ id, state }) => state !== 'removed' && only?.has(id) !== false);
  const arrivals = new Arrivals(around.git, around.signal);
  const judged = await inTurn(records, (record) => judge(around, arrivals, record));
  refuseUnknown(forced, judged);
  const run = new RunWorkspaces({ paths, world, failpoint: () => {}, warn });
  const workspaces: PrunedWorkspace[] = [];
  for (const { removal, record, isWorking, ...report } of judged) {
    const isForced = !removal.isSafe && forced.some((given) => isCalled(given, { ...report, record }));
    const isRemoved = removal.isSafe || (isForced && !isWorking);
    if (isRemoved && !isDry) await run.remove(record, around.signal);
    workspaces.push({ ...report, isRemoved, because: isForced && isRemoved ? `forced; ${removal.why}` : removal.why });
  }
  if (!isDry) await run.end({ isRun: false });
  return { shift: paths.name, isDry, workspaces, warnings };
}

interface Judged extends WorkspaceReport {
  readonly record: WorkspaceRecord;
  readonly removal: Removal;
  readonly isWorking: boolean;
  readonly bytes: number;
}

async function judge(around: Surroundings, arrivals: Arrivals, record: WorkspaceRecord): Promise<Judged> {
  const { id, kind, delivery } = record;
  const { paths } = around;
  const into = delivery?.text.into ?? mergedBranch(paths.name);
  const { answer, ...examined } = await examine(around, record, async (reading, { span, isChanged, isDelivered }) => {
    const isElsewhere = delivery?.state === 'done' && isDelivered && isOverWhenDelivered(kind, delivery.kind);
    return isChanged && !isElsewhere ? arrivals.find({ record, desk: paths.desk(id), into }, reading, span) : undefined;
  });
  const bytes = await folderSize(record.folder);
  const { facts } = examined;
  return { ...reportOf(examined), record, removal: removalOf(facts, answer), isWorking: facts.isWorking, bytes };
}

/** A row that is gone has no number: its name, or that of its folder, will do. */
function isCalled(given: string, { row, name, record }: Pick<Judged, 'row' | 'name' | 'record'>): boolean {
  return [String(row), name, record.slug, basename(record.folder)].includes(given);
}

function refuseUnknown(forced: readonly string[], judged: readonly Judged[]): void {
  const unknown = forced.find((given) => !judged.some((each) => isCalled(given, each)));
  if (unknown === undefined) return;
  const rows = judged.map(({ row, name }) => row ?? name);
  const hint = rows.length === 0 ? 'the shift has no workspaces' : `there are workspaces of: ${rows.join(', ')}`;
  throw new NightshiftError('usage', `no workspace belongs to row ${JSON.stringify(unknown)}`, hint);
}
