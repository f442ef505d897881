import { existsSync } from 'node:fs';
import type { RowLabels } from '../../core/model/row-labels.ts';
import { statusAt } from '../../core/schedule/plan.ts';
import { isTestId } from '../../core/workspace/branch-name.ts';
import type { Change } from '../../core/workspace/change.ts';
import { isOverWhenDelivered } from '../../core/workspace/delivery.ts';
import type { DeliveryFacts, WorkspaceFacts } from '../../core/workspace/state.ts';
import { findRow } from '../../engine/find-row.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { Snapshot } from '../../store/store.ts';
import { whyUnread } from '../../workspace/failure.ts';
import { type Git, GitFailure } from '../../workspace/git.ts';
import { type FilesFound, Reading, type Span } from '../../workspace/reading.ts';
import type { WorkspaceRecord } from '../../workspace/records.ts';
import { changeOf } from '../../workspace/transfer.ts';

/** What is needed to look at the workspaces of a shift. */
export interface Surroundings {
  readonly paths: ShiftPaths;
  readonly git: Git;
  readonly snapshot: Snapshot;
  /** The name of a row (0-based). */
  readonly label: ReturnType<typeof RowLabels.in>;
  /** A run or a batch by hand is under way. */
  readonly isRunning: boolean;
  readonly signal: AbortSignal;
}

/** A workspace as it is now. */
export interface Examined {
  readonly record: WorkspaceRecord;
  /** 1-based; null: the table has no such row any more. */
  readonly row: number | null;
  readonly label?: string;
  readonly facts: WorkspaceFacts;
  readonly change?: Change;
  /** Why it can't be read. */
  readonly obstacle?: string;
}

/** `read`: gets what the workspace holds, while it can be compared. */
export async function examine<T>(
  around: Surroundings,
  record: WorkspaceRecord,
  read?: (reading: Reading, held: Holdings) => Promise<T>,
): Promise<Examined & { readonly answer?: T }> {
  const { snapshot, label } = around;
  const index = findRow(snapshot, record.id, record.row - 1);
  const name = index === undefined ? undefined : label(index);
  const known = {
    record,
    row: index === undefined ? null : index + 1,
    ...(name === undefined ? {} : { label: name }),
  };
  const facts = {
    isWorking: around.isRunning && index !== undefined && isUnderWay(snapshot, index),
    // In a fleet, it has none here: what it holds is in its desk.
    hasFolder: existsSync(record.folder) || record.state === 'away',
    // One that is made again from a result is not ready, and not without work.
    isReady: record.state !== 'preparing' || (record.results ?? []).length > 0,
    isRemoving: record.state === 'removing',
    row:
      index === undefined ? (isTestId(record.id) ? ('test' as const) : ('gone' as const)) : progressOf(snapshot, index),
  };
  try {
    await using reading = await openReading(around, record);
    const held = await holdings(reading, record);
    if (!held) return { ...known, facts: { ...facts, isChanged: undefined, ...deliveryOf(record, false) } };
    const change = await reading.change(held.span);
    const answer = await read?.(reading, held);
    return {
      ...known,
      facts: {
        ...facts,
        isChanged: held.isChanged,
        hasEarlier: await hasEarlier(around, record),
        ...deliveryOf(record, held.isDelivered),
      },
      change,
      ...(answer === undefined ? {} : { answer }),
    };
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    const unknown = { ...facts, isChanged: undefined, ...deliveryOf(record, false) };
    return { ...known, facts: unknown, obstacle: whyUnread(record, error) };
  }
}

export function openReading({ git, paths, signal }: Surroundings, { id, from }: WorkspaceRecord): Promise<Reading> {
  return Reading.open(git, { desk: paths.desk(id), repository: from }, signal);
}

export interface Holdings {
  readonly span: Span;
  /** Something was done since `setup`. */
  readonly isChanged: boolean;
  /** It is what was delivered, or is to be. */
  readonly isDelivered: boolean;
}

/** What the workspace holds: its files; without them, what was delivered or recorded. Undefined if nothing tells. */
export async function holdings(reading: Reading, record: WorkspaceRecord): Promise<Holdings | undefined> {
  const { base, folder, delivery, prepared, results = [] } = record;
  const start = prepared ?? base;
  const begun = start && (await reading.treeOf(start));
  const files = existsSync(folder) ? await reading.files(folder, base) : undefined;
  const delivered = delivery && (await reading.treeOf(delivery.commit));
  if (delivered !== undefined && (files === undefined || (await isSameAs(reading, record, delivered, files)))) {
    return { span: { base, tree: delivered }, isChanged: true, isDelivered: true };
  }
  const result = results.at(-1)?.commit;
  const found = files ?? foundIn(result === undefined ? begun : await reading.treeOf(result));
  if (found === undefined) return undefined;
  const span = { base, ...found, tree: await changeOf(reading, record, found.tree) };
  return { span, isChanged: found.tree !== begun || found.tooLarge !== undefined, isDelivered: false };
}

function foundIn(tree: string | undefined): FilesFound | undefined {
  return tree === undefined ? undefined : { tree };
}

/** After a merge, the files also hold what others changed. The change of the row is its own commit. */
async function isSameAs(
  reading: Reading,
  record: WorkspaceRecord,
  delivered: string,
  { tree, tooLarge }: FilesFound,
): Promise<boolean> {
  if (tooLarge !== undefined) return false;
  if ((await changeOf(reading, record, tree)) === delivered) return true;
  const { commit, merges = [] } = record.delivery!;
  const merge = merges.findLast((each) => each.commit === commit)?.merged;
  const merged = merge && (await reading.treeOf(merge));
  const result = record.results?.at(-1)?.commit;
  const onto = result && (await reading.treeOf(result));
  if (!merged || !onto) return merged === tree;
  return tree === (await reading.transfer({ from: await changeOf(reading, record, onto), to: merged, onto }));
}

/** What an interrupted or failed try left is kept in the desk. */
async function hasEarlier({ git, paths, signal }: Surroundings, { id }: WorkspaceRecord): Promise<boolean> {
  const folder = paths.desk(id);
  if (!existsSync(folder)) return false;
  const args = ['for-each-ref', '--count=1', 'refs/nightshift/left'];
  const found = await git.run({ folder, args, env: { GIT_DIR: folder }, signal });
  return found.kind === 'done' && found.text !== '';
}

function deliveryOf({ kind, delivery }: WorkspaceRecord, isCurrent: boolean): { delivery?: DeliveryFacts } {
  if (delivery === undefined) return {};
  const { state, reason } = delivery;
  const isOnlyHere = !isOverWhenDelivered(kind, delivery.kind);
  return { delivery: { state, isCurrent, isOnlyHere, ...(reason === undefined ? {} : { reason }) } };
}

function isUnderWay(snapshot: Snapshot, row: number): boolean {
  return snapshot.tasks.some((_, task) => ['in_progress', 'qa'].includes(statusAt(snapshot, row, task)));
}

function progressOf(snapshot: Snapshot, row: number): WorkspaceFacts['row'] {
  const statuses = snapshot.tasks.map((_, task) => statusAt(snapshot, row, task));
  if (statuses.includes('failed')) return 'failed';
  return statuses.every((status) => status === 'done') ? 'done' : 'unfinished';
}
