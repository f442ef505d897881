import { join } from 'node:path';
import { endMarked } from '../../agents/process/leftovers.ts';
import { fillScript } from '../../core/language/shell-template.ts';
import { valuesOf } from '../../core/model/shift.ts';
import { isOverWhenDelivered } from '../../core/workspace/delivery.ts';
import type { DeliveryRequest, DeliveryValues } from '../../core/workspace/workspaces.ts';
import { resolveScript } from '../../engine/worker/worker-ports.ts';
import { refuseOpenBatch } from '../../store/folder/batch-file.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { lockForCommand } from '../../store/folder/run-lock.ts';
import { FolderWorkspaceRecords } from '../../store/folder/workspace-records.ts';
import { LocalDeliveries } from '../../workspace/delivery/deliveries.ts';
import { GitFailure } from '../../workspace/git.ts';
import { openKeptDesk } from '../../workspace/kept-desk.ts';
import type { WorkspaceRecord } from '../../workspace/records.ts';
import { openTable } from '../edit/edit-items.ts';
import { openAndCheck } from '../open-shift.ts';
import { workspaceGit } from '../run/workspace-git.ts';
import { prune } from '../workspaces/prune-workspaces.ts';
import type { World } from '../world.ts';
import { writeDeliveryCells } from './delivery-cells.ts';
import { deliveryParts } from './delivery-parts.ts';
import { findHeldRows, type HeldPlace, type HeldRow, lookAgain } from './held-rows.ts';
import { checkRow } from './row-checks.ts';

export type DeliveredRow = HeldRow &
  (
    | { readonly result: 'sent'; readonly values: DeliveryValues; readonly note?: string }
    | { readonly result: 'failed'; readonly reason: string }
  );

export interface HeldDeliveries {
  readonly rows: readonly HeldRow[];
  /**
   * Sends them, one after the other, unless they have changed since they were shown. A failure is recorded, and the
   * status of the row stays. Nothing runs meanwhile: throws `already-running` if something does.
   */
  send(onRow: (row: DeliveredRow) => void): Promise<DeliveredRow[]>;
}

/** What waits for approval. Writes nothing until something is sent. */
export async function openHeldDeliveries(
  paths: ShiftPaths,
  { rows, signal }: { readonly rows: readonly string[]; readonly signal: AbortSignal },
  world: World,
): Promise<HeldDeliveries> {
  const opened = await openAndCheck(paths);
  const records = new FolderWorkspaceRecords(paths);
  const place = {
    paths,
    opened,
    records,
    // Not the copies of a run: those are of its start, and it uses them.
    git: workspaceGit({
      ...{ root: paths.root, copies: join(paths.sources, 'deliver'), world },
      shiftFolder: paths.folder,
    }),
    signal,
  };
  const held = await findHeldRows(place, rows);
  return { rows: held, send: (onRow) => sendAll(place, held, onRow, world) };
}

async function sendAll(
  place: HeldPlace,
  rows: readonly HeldRow[],
  onRow: (row: DeliveredRow) => void,
  world: World,
): Promise<DeliveredRow[]> {
  const { paths } = place;
  const now = world.now();
  refuseOpenBatch(paths, now);
  using _lock = await lockForCommand(paths, 'deliver', now);
  // What a kill left of an earlier delivery: it could have its effect after we looked for it.
  await endMarked({ shiftFolder: paths.folder });
  const sent: DeliveredRow[] = [];
  for (const row of rows) {
    const current = await lookAgain(place, row);
    const delivered =
      typeof current === 'string'
        ? { ...row, result: 'failed' as const, reason: current }
        : await send(place, current, world);
    onRow(delivered);
    sent.push(delivered);
  }
  await tidy(paths, sent, world);
  return sent;
}

/**
 * Removes the workspaces of what was sent, if nothing else is in them. At the end: it reads the hooks of repositories
 * again, and what is sent uses those of the run.
 */
async function tidy(paths: ShiftPaths, sent: readonly DeliveredRow[], world: World): Promise<void> {
  const over = sent.filter(({ result, record, kind }) => result === 'sent' && isOverWhenDelivered(record.kind, kind));
  if (over.length === 0) return;
  const only = new Set(over.map(({ record }) => record.id));
  await prune(world, paths, { isDry: false, forced: [], only });
}

async function send(place: HeldPlace, row: HeldRow, world: World): Promise<DeliveredRow> {
  const { paths, records, git } = place;
  const deliveries = new LocalDeliveries(
    deliveryParts(paths, world, {
      git,
      records,
      openDesk: (record, signal) => openDesk(place, record, signal),
      failpoint: () => {},
    }),
  );
  const result = await deliveries.deliver(requestOf(place, row, world));
  if (result.kind === 'delivered') {
    const { values, note } = result;
    await writeDeliveryCells(await openTable(world, paths), row.record.id, values);
    return { ...row, result: 'sent', values, ...(note === undefined ? {} : { note }) };
  }
  const reason =
    result.kind === 'failed' ? result.reason : result.kind === 'trouble' ? result.trouble.reason : 'interrupted';
  await recordFailure(place, row.record.id, reason);
  return { ...row, result: 'failed', reason };
}

async function openDesk({ git, paths }: HeldPlace, record: WorkspaceRecord, signal: AbortSignal) {
  const opened = await openKeptDesk(git, record, paths.desk(record.id), signal);
  if (opened === undefined) {
    const reason = `${paths.desk(record.id)} is gone`;
    throw new GitFailure('its commit is lost', { kind: 'refused', code: 1, said: reason });
  }
  // What was approved goes out, whatever was changed in the workspace since.
  return { ...opened, result: await opened.desk.treeOf(record.delivery!.commit) };
}

function requestOf(place: HeldPlace, { record }: HeldRow, world: World): DeliveryRequest {
  const { paths, opened, signal } = place;
  const { kind, key, text } = record.delivery;
  const { shift, snapshot } = opened;
  const template = shift.workspace?.delivery.prCommand;
  const values = valuesOf(paths, snapshot.metadata(snapshot.rowOf(record.id)!));
  const prCommand = template && fillScript(template, values);
  return {
    id: record.id,
    key,
    kind,
    isHeld: false,
    ...text,
    ...(prCommand === undefined ? {} : { prCommand: resolveScript(prCommand, shift.secrets) }),
    check: () => checkRow({ paths, opened, world }, record, signal),
    signal,
  };
}

async function recordFailure({ records }: HeldPlace, id: string, reason: string): Promise<void> {
  const record = await records.read(id);
  if (record?.delivery) await records.write({ ...record, delivery: { ...record.delivery, state: 'failed', reason } });
}
