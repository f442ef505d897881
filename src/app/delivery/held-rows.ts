import { RowLabels } from '../../core/model/row-labels.ts';
import { linesOf } from '../../core/workspace/change.ts';
import type { DeliveryKind } from '../../core/workspace/plan.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { Git } from '../../workspace/git.ts';
import { Reading } from '../../workspace/reading.ts';
import type { WorkspaceRecords } from '../../workspace/records.ts';
import { isRowDone, isUndelivered, type UndeliveredRecord } from '../kept-workspaces.ts';
import type { OpenShift } from '../open-shift.ts';
import { isNamed, namedRows } from '../select-rows.ts';

/** A result that waits for `nightshift deliver`. */
export interface HeldRow {
  /** 1-based. */
  readonly row: number;
  readonly label: string | undefined;
  readonly kind: DeliveryKind;
  readonly branch: string;
  /** Where it goes, as far as the shift says so. */
  readonly into: string | undefined;
  readonly commit: string;
  readonly files: number;
  readonly lines: number;
  /** Why it could not be delivered last time. */
  readonly lastReason: string | undefined;
  readonly record: UndeliveredRecord;
}

export interface HeldPlace {
  readonly paths: ShiftPaths;
  readonly opened: OpenShift;
  readonly records: WorkspaceRecords;
  readonly git: Git;
  readonly signal: AbortSignal;
}

/** The rows that are done and not delivered yet, in row order. `rows`: only these, as typed. */
export async function findHeldRows(place: HeldPlace, rows: readonly string[]): Promise<HeldRow[]> {
  const { shift, snapshot } = place.opened;
  const chosen = isNamed({ rows }) ? namedRows({ rows }, snapshot.count) : undefined;
  const labelOf = RowLabels.in(shift, snapshot);
  const records = new Map((await place.records.all()).map((record) => [record.id, record]));
  const found: HeldRow[] = [];
  for (let index = 0; index < snapshot.count; index++) {
    const record = records.get(snapshot.id(index));
    if (record === undefined || chosen?.has(index) === false) continue;
    if (!isUndelivered(record) || !isRowDone(snapshot, index)) continue;
    found.push({ row: index + 1, label: labelOf(index), ...(await describe(place, record)) });
  }
  return found;
}

/** The row as it is now, if what you saw of it still waits; otherwise why not. Asked right before it is sent. */
export async function lookAgain({ opened, records }: HeldPlace, seen: HeldRow): Promise<HeldRow | string> {
  const snapshot = await opened.store.snapshot();
  const index = snapshot.rowOf(seen.record.id);
  if (index === undefined) return 'its row is gone';
  if (!isRowDone(snapshot, index)) return 'it is to be done again';
  const record = await records.read(seen.record.id);
  if (record === undefined || !isUndelivered(record)) return 'it was delivered meanwhile';
  if (record.delivery.commit !== seen.commit) return 'it was done again meanwhile, with another result';
  return { ...seen, row: index + 1, record };
}

async function describe(
  { git, paths, signal }: HeldPlace,
  record: UndeliveredRecord,
): Promise<Omit<HeldRow, 'row' | 'label'>> {
  const { delivery, branch, base } = record;
  await using reading = await Reading.open(git, { desk: paths.desk(record.id), repository: record.from }, signal);
  const change = await reading.change({ base, tree: delivery.commit });
  return {
    kind: delivery.kind,
    branch,
    into: delivery.text.into,
    commit: delivery.commit,
    files: change.files.length,
    lines: linesOf(change),
    lastReason: delivery.reason,
    record,
  };
}
