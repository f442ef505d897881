import type { DeliveryKind } from '../core/workspace/plan.ts';

/** What is known about the workspace of one row. The one authority for its folder, branch and base. */
export interface WorkspaceRecord {
  /** The item's. */
  readonly id: string;
  /** From 1, when it was made. */
  readonly row: number;
  readonly slug: string;
  readonly kind: 'worktree' | 'clone' | 'copy';
  readonly folder: string;
  /** The repository or folder that it was made from: a path, or the address of a remote. */
  readonly from: string;
  readonly branch: string;
  /** The commit that it began with; undefined: the repository had none. For a copy: a commit with its files. */
  readonly base: string | undefined;
  /**
   * `preparing`: it may be half made, and no agent has worked in it. `removing`: it may be half removed. `removed`: its
   * folder is gone; what was delivered is still known. `away`: it has no folder here, since workers of a fleet work on
   * the row; its results are in the desk.
   */
  readonly state: 'preparing' | 'ready' | 'removing' | 'removed' | 'away';
  readonly madeAt: string;
  /** Files that it got besides those of git. They are never part of a change. */
  readonly included?: readonly string[];
  /** The commit in the desk with what `setup` left, if that differs from `base`. It is not part of the change. */
  readonly prepared?: string;
  /** The results of its tasks, in their order. */
  readonly results?: readonly TaskResult[];
  readonly delivery?: DeliveryRecord;
  /** In a fleet: what the relay may have of this row. Written before an order is sent that could put it there. */
  readonly relayRefs?: readonly string[];
}

/** What the files held when an attempt of a task had ended: a commit in the desk. */
export interface TaskResult {
  readonly task: string;
  readonly commit: string;
  readonly at: string;
  /** In a fleet: where the relay has it. */
  readonly ref?: string;
}

/** What the files hold when a task starts; undefined: nothing. */
export function startOf({ base, prepared, results = [] }: WorkspaceRecord, task: string): string | undefined {
  return resultsBefore(results, task).at(-1)?.commit ?? prepared ?? base;
}

export function resultOf({ results = [] }: WorkspaceRecord, task: string): TaskResult | undefined {
  return results.find((result) => result.task === task);
}

/** The result of this task has passed, and its delivery has begun: it is not judged again. */
export function isJudged(record: WorkspaceRecord, task: string): boolean {
  const result = resultOf(record, task);
  return result !== undefined && record.delivery !== undefined && record.delivery.at >= result.at;
}

/** The results of earlier tasks. */
export function resultsBefore(results: readonly TaskResult[], task: string): readonly TaskResult[] {
  const own = results.findIndex((result) => result.task === task);
  return own === -1 ? results : results.slice(0, own);
}

/** Written before anything is delivered, so that a crash never delivers twice. */
export interface DeliveryRecord {
  readonly kind: DeliveryKind;
  /** What the commit carries as `Nightshift-Key:`. */
  readonly key: string;
  /** The engine's one commit on top of the base. */
  readonly commit: string;
  /**
   * `held`: it waits for `nightshift deliver`. `intended`: it may have happened; what it leaves behind tells. `failed`:
   * it was sent with `nightshift deliver`, which failed. The status of the row stays as it was.
   */
  readonly state: 'held' | 'intended' | 'done' | 'failed';
  readonly at: string;
  /** Commits of earlier deliveries of this row: a branch at one of them may be moved. */
  readonly earlier?: readonly string[];
  /** For `merge`: commits of this row, and what `into` got or was to get for each, oldest first. */
  readonly merges?: readonly MergeRecord[];
  /** For `pr`. */
  readonly url?: string;
  readonly prState?: string;
  /** Why it failed when it was sent. */
  readonly reason?: string;
  /** To send it later as it was asked for. */
  readonly text: DeliveryText;
}

export interface MergeRecord {
  readonly commit: string;
  readonly merged: string;
}

/** The filled templates of a delivery. */
interface DeliveryText {
  readonly into?: string;
  readonly author?: string;
  readonly message: string;
  readonly title: string;
  readonly body: string;
}

/** Keeps records so that they survive a power cut. */
export interface WorkspaceRecords {
  all(): Promise<WorkspaceRecord[]>;
  read(id: string): Promise<WorkspaceRecord | undefined>;
  write(record: WorkspaceRecord): Promise<void>;
  remove(id: string): Promise<void>;
}
