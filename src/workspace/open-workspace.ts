import type { FoundChange, OpenWorkspace, Restored, WorkspaceFailure } from '../core/workspace/workspaces.ts';
import { NotThere } from './base.ts';
import type { Desk } from './desk.ts';
import { isFolder } from './enter.ts';
import { failureOf, unlessGone } from './failure.ts';
import type { OutsideWatch } from './outside.ts';
import { isJudged, resultOf, resultsBefore, startOf, type WorkspaceRecord, type WorkspaceRecords } from './records.ts';

export interface OpenOptions {
  readonly task: string;
  readonly record: WorkspaceRecord;
  readonly desk: Desk;
  readonly records: WorkspaceRecords;
  /** Where agents work. */
  readonly folder: string;
  readonly port: number;
  readonly reads: readonly string[];
  now(): number;
  /** A result was recorded. */
  onKept(): void;
  readonly outside: OutsideWatch;
  /** Makes the folder again. */
  restore(signal: AbortSignal): Promise<OpenWorkspace | WorkspaceFailure>;
}

/** For agents, checks and `setup`. */
export function workspaceEnvironment(
  { folder, branch, base }: Pick<WorkspaceRecord, 'folder' | 'branch' | 'base'>,
  port: number,
): Record<string, string> {
  return {
    NIGHTSHIFT_WORKSPACE: folder,
    NIGHTSHIFT_BRANCH: branch,
    NIGHTSHIFT_BASE: base ?? '',
    NIGHTSHIFT_PORT: String(port),
  };
}

export class LocalWorkspace implements OpenWorkspace {
  readonly kind = 'open';
  readonly top: string;
  readonly folder: string;
  readonly branch: string;
  readonly base: string | undefined;
  readonly after: string | undefined;
  readonly isJudged: boolean;
  readonly reads: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly #options: OpenOptions;

  constructor(options: OpenOptions) {
    const { record, task, folder, port, reads } = options;
    this.#options = options;
    this.top = record.folder;
    this.folder = folder;
    this.branch = record.branch;
    this.base = record.base;
    this.after = resultsBefore(record.results ?? [], task).at(-1)?.task;
    this.reads = reads;
    this.isJudged = isJudged(record, task);
    this.environment = workspaceEnvironment(record, port);
  }

  async change(signal: AbortSignal): Promise<FoundChange | WorkspaceFailure> {
    const { desk, record, task, outside } = this.#options;
    const disturber = outside.disturberOf(record.id);
    if (disturber !== undefined) {
      return { kind: 'trouble', trouble: { reason: `row ${disturber} went into its workspace: it starts over` } };
    }
    try {
      const start = startOf(record, task);
      const own = desk.with(signal);
      if (!isFolder(record.folder)) throw new NotThere(`its workspace ${record.folder} is gone`);
      const tree = await own.tree(start);
      const refusal = await own.refusal(start);
      if (refusal !== undefined) throw new NotThere(refusal);
      await this.#keep(own, tree, start);
      return { kind: 'change', change: await own.change(start) };
    } catch (error) {
      return unlessGone(record, failureOf(error, signal));
    }
  }

  async restore(signal: AbortSignal): Promise<Restored | WorkspaceFailure> {
    if (isFolder(this.top) && isFolder(this.folder)) return { kind: 'there' };
    const restored = await this.#options.restore(signal);
    return restored.kind === 'open' ? { kind: 'made' } : restored;
  }

  trespassOf(calls: readonly string[]): Promise<string | undefined> {
    return this.#options.outside.trespassOf(this.#options.record.id, calls);
  }

  leave(): void {
    this.#options.outside.leave(this.#options.record.id);
  }

  /** The record is read again: a delivery may have written to it. */
  async #keep(desk: Desk, tree: string, start: string | undefined): Promise<void> {
    const { records, task, now, onKept } = this.#options;
    const record = (await records.read(this.#options.record.id)) ?? this.#options.record;
    const known = resultOf(record, task);
    if (known !== undefined && (await desk.treeOf(known.commit)) === tree) return;
    const message = `The result of ${task}\n`;
    const commit = await desk.keep(tree, { name: `result/${task}`, parent: start, message });
    const results = [...resultsBefore(record.results ?? [], task), { task, commit, at: new Date(now()).toISOString() }];
    await records.write({ ...record, results });
    onKept();
  }
}
