import { isAbsolute, join, relative, resolve } from 'node:path';
import { runCheck } from '../../checks/checks.ts';
import { resolveText } from '../../core/language/template.ts';
import { localOrder, makeOrder } from '../../core/model/order.ts';
import { RowLabels } from '../../core/model/row-labels.ts';
import type { Task } from '../../core/model/shift.ts';
import type { DeliveryFailure, OpenWorkspace } from '../../core/workspace/workspaces.ts';
import { checkAgain } from '../../engine/worker/deliver.ts';
import { withWork } from '../../engine/worker/worker.ts';
import type { EquippedSite } from '../../engine/worker/worker-ports.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { Ports } from '../../workspace/free-port.ts';
import { workspaceEnvironment } from '../../workspace/open-workspace.ts';
import type { WorkspaceRecord } from '../../workspace/records.ts';
import type { OpenShift } from '../open-shift.ts';
import { processClock } from '../run/process-time.ts';
import { protectFiles } from '../run/protect-files.ts';
import { watchFolders } from '../run/watch-folders.ts';
import type { World } from '../world.ts';

interface Checking {
  readonly paths: ShiftPaths;
  readonly opened: OpenShift;
  readonly world: World;
}

/** Runs the checks of a row again, as a merge needs it when no run is active: as a run does, also in the sandbox. */
export async function checkRow(
  checking: Checking,
  record: WorkspaceRecord,
  signal: AbortSignal,
): Promise<DeliveryFailure | undefined> {
  const { paths, opened } = checking;
  const { tasks, secrets } = opened.shift;
  const inWorkspace = tasks.filter(({ hasWorkspace }) => hasWorkspace);
  const last = inWorkspace.at(-1);
  if (last === undefined) return undefined;
  const orderFor = (task: Task) =>
    makeOrder(opened.shift, task, { role: 'qa', token: '', item: itemOf(opened, record) });
  const order = localOrder(orderFor(last), paths);
  const never = new AbortController().signal;
  const call = { emit: () => {}, signal, drain: never, spent: never };
  const result = await withWork(siteOf(checking), order, call, async (work) => {
    const folder = folderIn(record, resolve(paths.root, resolveText(order.workingDir, secrets)));
    const placed = { ...work, folder, workspace: await workspaceOf(record, folder) };
    return { failure: await checkAgain(placed, inWorkspace.slice(0, -1).map(orderFor)) };
  });
  return typeof result === 'string' ? { kind: 'trouble', trouble: { reason: result } } : result.failure;
}

function itemOf({ shift, snapshot }: OpenShift, { id }: WorkspaceRecord) {
  const index = snapshot.rowOf(id)!;
  const label = RowLabels.in(shift, snapshot)(index);
  return { id, index, metadata: snapshot.metadata(index), ...(label === undefined ? {} : { label }) };
}

function siteOf({ paths, opened, world }: Checking): EquippedSite {
  const nothing = () => {};
  return {
    place: paths,
    agents: { find: () => undefined, caller: world.env },
    check: runCheck,
    folders: watchFolders(paths, world, nothing),
    protection: protectFiles(paths, world, nothing),
    clock: processClock(world.now),
    random: Math.random,
    secrets: opened.shift.secrets,
  };
}

/** The workspace as it is: the merge has put its files there. */
async function workspaceOf(record: WorkspaceRecord, folder: string): Promise<OpenWorkspace> {
  const { id, folder: top, branch, base, kind, from } = record;
  const port = await new Ports().of(id);
  return {
    ...{ kind: 'open', top, folder, branch, base, isJudged: true },
    reads: kind === 'worktree' ? [from, join(from, '.git')] : [],
    environment: workspaceEnvironment(record, port),
    change: async () => ({ kind: 'aborted' }),
    restore: async () => ({ kind: 'there' }),
    trespassOf: async () => undefined,
    leave: () => {},
  };
}

/** `working-dir`, in the workspace. */
function folderIn({ kind, folder, from }: WorkspaceRecord, workingDir: string): string {
  const below = relative(from, workingDir);
  const isInside = kind === 'worktree' && below !== '' && !below.startsWith('..') && !isAbsolute(below);
  return isInside ? join(folder, below) : folder;
}
