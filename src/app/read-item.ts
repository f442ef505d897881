import { existsSync } from 'node:fs';
import type { ItemHistory } from '../core/folds/history.ts';
import type { ItemDetails } from '../core/folds/item-details.ts';
import { itemKey } from '../core/model/identity.ts';
import { RowLabels } from '../core/model/row-labels.ts';
import type { Status } from '../core/model/status.ts';
import { statusAt } from '../core/schedule/plan.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { findTask } from './find-task.ts';
import { readDetails, readHistory } from './history.ts';
import { openAndCheck } from './open-shift.ts';
import { findRowIndex } from './rows.ts';
import type { KnownShift } from './status.ts';
import type { WorkspaceReport } from './workspaces/report.ts';
import type { World } from './world.ts';

/** What the journal knows of the latest try of an item-task. */
type Past = Partial<ItemDetails & Pick<ItemHistory, 'captured' | 'usage' | 'failure'>>;

export interface ItemTask extends Past {
  readonly task: string;
  readonly status: Status;
  /** Where it is now, in a fleet. */
  readonly worker?: string;
  readonly key: string;
  /** Files. */
  readonly transcripts: readonly string[];
}

export interface ItemReport {
  readonly shift: string;
  /** 1-based. */
  readonly row: number;
  readonly index: number;
  /** The row's name, if it has one. */
  readonly label?: string;
  readonly item: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tasks: readonly ItemTask[];
  /** Its own folder, if it has one. */
  readonly workspace?: WorkspaceReport;
}

/** Everything about one row, given by its number (1-based) or its label, or about one task of it. */
export async function readItem(world: World, paths: ShiftPaths, row: string, only?: string): Promise<ItemReport> {
  const opened = await openAndCheck(paths);
  const index = findRowIndex(opened, row);
  return describeItem(world, { ...opened, paths, history: await readHistory(paths, world) }, index, only);
}

type Known = Pick<KnownShift, 'paths' | 'shift' | 'snapshot' | 'history'>;

/** The same about a row of a shift that was read. */
export async function describeItem(world: World, known: Known, index: number, only?: string): Promise<ItemReport> {
  const { paths, shift, snapshot, history } = known;
  const id = snapshot.id(index);
  const names = only === undefined ? snapshot.tasks : [findTask(shift, only).name];
  const details = await readDetails(paths, id, names, history);
  const tasks = names.map((task) => {
    const key = itemKey(shift.identity, task, id);
    const status = statusAt(snapshot, index, snapshot.tasks.indexOf(task));
    const past = history.of(task, id);
    const isRunning = status === 'in_progress' || status === 'qa';
    return {
      task,
      status,
      ...(isRunning && past?.worker !== undefined ? { worker: past.worker } : {}),
      key,
      ...pastOf(past, details.get(task)),
      transcripts: ['dev', 'qa'].map((role) => paths.transcript(task, key, role)).filter((file) => existsSync(file)),
    };
  });
  const workspace = await readWorkspaceOf(world, known, id);
  const label = RowLabels.in(shift, snapshot)(index);
  return {
    shift: paths.name,
    row: index + 1,
    index,
    ...(label === undefined ? {} : { label }),
    item: id,
    metadata: snapshot.metadata(index),
    tasks,
    ...(workspace === undefined ? {} : { workspace }),
  };
}

/** Without a record, the code of workspaces is not loaded. */
async function readWorkspaceOf(world: World, known: Known, id: string) {
  if (!existsSync(known.paths.workspaceRecord(id))) return undefined;
  const { readWorkspace } = await import('./workspaces/list-workspaces.ts');
  return readWorkspace(world, known.paths, known, id);
}

/** The history has the reason of a failure in short; the details have it in full. */
function pastOf(past: ItemHistory | undefined, details: ItemDetails | undefined): Past {
  if (!past) return {};
  const { captured, usage, failure } = past;
  const reasons = [details?.qa?.reason, details?.dev?.reason];
  const full = reasons.find((reason) => reason?.startsWith(failure?.slice(0, -1) ?? '')) ?? failure;
  return { ...details, captured, usage, ...(failure === undefined || full === undefined ? {} : { failure: full }) };
}
