import { statSync } from 'node:fs';
import { resolveText } from '../../core/language/template.ts';
import type { LocalOrder, Trouble } from '../../core/model/model.ts';
import { mergedBranch } from '../../core/workspace/branch-name.ts';
import type { OpenWorkspace, WorkspaceFailure, WorkspaceRequest } from '../../core/workspace/workspaces.ts';
import { whyUnconfinable } from './confinement.ts';
import { runScript } from './run-checks.ts';
import { timeoutReason, type Work } from './work.ts';
import { type EquippedSite, resolveScript } from './worker-ports.ts';

/** Where an order is carried out, until it is disposed. */
export interface Placed extends Disposable {
  readonly kind: 'placed';
  readonly work: Work;
}

/** Why an order can't be carried out. `trouble`: it is not the item's fault. */
export type Unplaced =
  | { readonly kind: 'failed'; readonly reason: string; readonly failurePoint: string }
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
  | { readonly kind: 'aborted' };

/** Enters `working-dir`, or the workspace of the row, which is made if it is not there yet. */
export async function enterPlace(work: Work): Promise<Placed | Unplaced> {
  const { order, site } = work;
  if (order.workspace !== undefined) {
    const opened = await openWorkspace(work);
    if (opened.kind !== 'open') return opened;
    return placed({ ...work, order: inWorkspace(order, opened), folder: opened.folder, workspace: opened });
  }
  const { token, key, task, item, settings } = order;
  await site.protection.hold({ folder: work.folder, globs: settings.protect });
  return placed(work, site.protection.enter({ token, key, task, index: item.index }));
}

/** Prompts name the folder and the branch that the item works in, not those that the settings ask for. */
function inWorkspace(order: LocalOrder, { folder, branch }: OpenWorkspace): LocalOrder {
  const { workspace } = order;
  return { ...order, workingDir: [folder], ...(workspace && { workspace: { ...workspace, branch: [branch] } }) };
}

function placed(work: Work, protection?: Disposable): Placed | Unplaced {
  const reason = isFolder(work.folder) ? whyUnconfinable(work) : `working-dir ${work.folder} does not exist`;
  if (reason !== undefined) {
    work.workspace?.leave();
    protection?.[Symbol.dispose]();
    return { kind: 'failed', reason, failurePoint: 'working-dir' };
  }
  const entered = work.order.role === 'dev' ? work.site.folders.enter(work.folder) : undefined;
  return {
    kind: 'placed',
    work,
    [Symbol.dispose]: () => {
      entered?.[Symbol.dispose]();
      work.workspace?.leave();
      protection?.[Symbol.dispose]();
    },
  };
}

/** What an order asks of workspaces, on the machine that has `workingDir`. */
export function requestOf(
  order: LocalOrder,
  { workingDir, secrets, signal }: { workingDir: string; secrets: EquippedSite['secrets']; signal: AbortSignal },
): WorkspaceRequest {
  const { id, index, label } = order.item;
  const { kind, repo, base, branch, include, folder, delivery } = order.workspace!;
  const into = delivery.kind === 'merge' ? (delivery.into ?? [mergedBranch(order.shift.name)]) : undefined;
  const texts = { repo, base, branch, into };
  const resolved = Object.entries(texts).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, resolveText(text, secrets)] as const],
  );
  return {
    ...{ role: order.role, task: order.task, kind, workingDir, include, signal },
    isContinued: order.retry !== undefined || order.checksPassed === true,
    item: { id, row: index + 1, ...(label === undefined ? {} : { label }) },
    ...Object.fromEntries(resolved),
    ...(folder === undefined ? {} : { folder }),
    ...(order.carried && { carried: order.carried }),
  };
}

async function openWorkspace(work: Work): Promise<OpenWorkspace | WorkspaceFailure> {
  const { order, site, signal, folder: workingDir } = work;
  const { id, index } = order.item;
  const started = site.clock.elapsed();
  const request: WorkspaceRequest = {
    ...requestOf(order, { workingDir, secrets: site.secrets, signal }),
    ...(order.workspace!.setup === undefined ? {} : { setUp: (opened) => setUp(work, opened) }),
    scripts: scriptsOf(work),
  };
  const opened = await site.workspaces!.open(request);
  if (opened.kind === 'open' && order.role === 'dev') {
    const { top, branch, base, after } = opened;
    const ms = Math.round(site.clock.elapsed() - started);
    const subject = { task: order.task, index, item: id };
    work.emit({
      type: 'workspace:opened',
      ...subject,
      folder: top,
      branch,
      ...(base && { base }),
      ...(after && { after }),
      ms,
    });
  }
  if (opened.kind === 'aborted' && work.timeout.aborted) {
    return { kind: 'failed', reason: `workspace: ${timeoutReason(work)}`, failurePoint: 'workspace' };
  }
  return opened;
}

/** What an agent that runs the Steps will run. */
function scriptsOf({ order, site }: Work): string[] {
  if (order.role !== 'dev' || !site.agents.find(order.settings.agent)?.runsSteps) return [];
  const scripts = order.steps.flatMap((step) => step.scripts.map((script) => resolveScript(script, site.secrets)));
  return scripts.map(({ source, values }) => [source, ...Object.values(values)].join('\n'));
}

/** Runs `setup` in a fresh workspace. Its failure is not a failure of the dev. */
async function setUp(work: Work, opened: OpenWorkspace): Promise<WorkspaceFailure | undefined> {
  const there = { ...work, folder: opened.folder, workspace: opened };
  const { timeoutMs } = work.order.settings;
  const ended = await runScript(there, work.order.workspace!.setup!, { name: 'setup', attempt: 1, timeoutMs });
  switch (ended.kind) {
    case 'passed':
      return undefined;
    case 'failed':
      return { kind: 'failed', reason: `setup failed: ${ended.reason}`, failurePoint: 'setup' };
    case 'trouble':
      return { kind: 'trouble', trouble: { ...ended.trouble, reason: `setup: ${ended.trouble.reason}` } };
    case 'aborted':
      return ended;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
