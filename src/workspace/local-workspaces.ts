import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenWorkspace, WorkspaceFailure, WorkspaceRequest, Workspaces } from '../core/workspace/workspaces.ts';
import { AwayRows } from './away-rows.ts';
import type { OpenDesk } from './delivery/outgoing.ts';
import { recordedResult } from './delivery/row-result.ts';
import { Desk } from './desk.ts';
import { enter, isFolder } from './enter.ts';
import { failureOf } from './failure.ts';
import { Ports } from './free-port.ts';
import type { Git } from './git.ts';
import { addIncluded, findIncluded } from './include.ts';
import { keepLeft, keepPrepared, resetFiles } from './kept-trees.ts';
import { removeLeftLocks } from './left-locks.ts';
import type { RepositoryLock } from './mirror.ts';
import { LocalWorkspace } from './open-workspace.ts';
import { type Origin, type OriginFinder, Origins, refuseOther } from './origin.ts';
import { OutsideWatch } from './outside.ts';
import { putAway } from './put-away.ts';
import { resultOf, resultsBefore, startOf, type WorkspaceRecord, type WorkspaceRecords } from './records.ts';
import { Reservations } from './reservations.ts';
import { type Earlier, fetchEarlier, findEarlier, hasEarlier } from './tested-row.ts';
import { type Place, Trees } from './tree.ts';

/** Where the crash tests may end the process. */
export type WorkspacePoint =
  | 'workspace:recorded'
  | 'workspace:added'
  | 'workspace:ready'
  | 'workspace:kept'
  | 'workspace:removed';

export interface WorkspacesOptions {
  readonly git: Git;
  readonly records: WorkspaceRecords;
  readonly shift: string;
  readonly folders: {
    /** The project. */
    readonly root: string;
    /** The default of `workspaces-dir`. */
    readonly workspaces: string;
    readonly mirrors: string;
    /** For copies of hooks and configuration; agents can't write there. */
    readonly sources: string;
    /** The desk of an item; agents can't write there. */
    desk(id: string): string;
  };
  readonly lock: RepositoryLock;
  /** Absent: repositories are found on this machine, or cloned from their remotes. */
  readonly origins?: OriginFinder;
  now(): number;
  failpoint(name: WorkspacePoint): void;
  /** Gets a sentence about something that a person should know. */
  warn(message: string): void;
}

/** The workspaces of a shift on this machine. One process at a time uses them: the one that has the run lock. */
export class LocalWorkspaces implements Workspaces {
  readonly #options: WorkspacesOptions;
  readonly #origins: OriginFinder;
  readonly #trees: Trees;
  readonly #outside: OutsideWatch;
  readonly #ports = new Ports();
  readonly #reservations: Reservations;
  readonly #told = new Set<string>();
  /** In a fleet: rows that workers work on. */
  readonly away: AwayRows;

  constructor(options: WorkspacesOptions) {
    const { git, folders, lock, now, warn, shift, records } = options;
    this.#options = options;
    this.#reservations = new Reservations(options);
    this.#origins = options.origins ?? new Origins({ git, ...folders, lock, now, warn });
    const leftOut = join(folders.root, '.nightshift');
    this.#trees = new Trees({ git, lock, leftOut, warn });
    this.#outside = new OutsideWatch({ git, shift, leftOut, records, warn });
    this.away = new AwayRows({
      ...{ git, records, origins: this.#origins, reservations: this.#reservations, trees: this.#trees, now },
      openDesk: (record, origin, signal) => this.#desk(record, origin, signal),
    });
  }

  async open(request: WorkspaceRequest): Promise<OpenWorkspace | WorkspaceFailure> {
    try {
      request.signal.throwIfAborted();
      const record = await this.#options.records.read(request.item.id);
      const isBegun = resultsBefore(record?.results ?? [], request.task).length > 0;
      const origin = await this.#origins.find(request, request.role === 'qa' || request.isContinued || isBegun);
      const earlier = await findEarlier(this.#options.records, request, origin);
      if (record === undefined) return await this.#make(request, origin, { earlier });
      refuseOther(record, request, origin);
      const isWorkedIn = record.state === 'ready' || (record.results ?? []).length > 0;
      const isCurrent = isWorkedIn && (!earlier || hasEarlier(record, earlier, request.task));
      if (isCurrent) return await this.#find(request, origin, record);
      return await this.#make(request, origin, { previous: record, earlier });
    } catch (error) {
      return failureOf(error, request.signal);
    }
  }

  /** For a delivery: hooks and configuration are those of the time when this process first used them. */
  async openDesk(record: WorkspaceRecord, signal: AbortSignal): Promise<OpenDesk> {
    const origin = await this.#origins.again(record, signal);
    const desk = await this.#desk(record, origin, signal);
    return { desk, source: origin.source, result: await recordedResult(desk, record) };
  }

  /** At the end of a run: tells what else agents have changed outside of their workspaces. */
  lookOutside(): Promise<void> {
    return this.#outside.end();
  }

  /** Removes the folder. Its desk stays, and so does its branch, unless they hold nothing. */
  async remove(record: WorkspaceRecord, signal: AbortSignal): Promise<void> {
    const { git, records, folders, failpoint } = this.#options;
    await records.write({ ...record, state: 'removing' });
    // Without its repository, there is only the folder to remove.
    const isTree = record.kind === 'worktree';
    const origin = isTree ? await this.#origins.again(record, signal).catch(() => undefined) : undefined;
    this.#outside.forget(record.id);
    await this.#trees.remove(record, origin, signal);
    this.#ports.release(record.id);
    failpoint('workspace:removed');
    await putAway(git, folders.desk(record.id), record, signal);
    if (record.delivery === undefined) await records.remove(record.id);
    else await records.write({ ...record, state: 'removed' });
  }

  /**
   * At the start of a run: finishes what a kill left half made or half removed, and tells what has become of the
   * others. What can't be done now is told, and tried again by the next run.
   */
  async recover(signal: AbortSignal): Promise<void> {
    const { records, folders, shift, warn } = this.#options;
    const all = await records.all();
    const commonDir = async (record: WorkspaceRecord) =>
      (await this.#origins.again(record, signal).catch(() => undefined))?.source?.commonDir;
    await removeLeftLocks(all, { ...{ shift, warn, commonDir }, desk: folders.desk });
    for (const record of all) {
      const isUnfinished = record.state === 'preparing' && (record.results ?? []).length === 0;
      try {
        if (isUnfinished || record.state === 'removing') await this.remove(record, signal);
        else if (record.state === 'ready' && !isFolder(record.folder)) {
          warn(`row ${record.row}: its workspace ${record.folder} is gone; it is made again when an agent needs it`);
        } else if (record.state === 'ready') await this.#origins.again(record, signal);
      } catch (error) {
        const failure = failureOf(error, signal);
        if (failure.kind === 'aborted') return;
        const why = failure.kind === 'failed' ? failure.reason : failure.trouble.reason;
        warn(`row ${record.row}: its workspace ${record.folder} can't be used now: ${why}`);
      }
    }
  }

  /** A workspace that is known: as it was at the start of the task, or as the task left it. */
  async #find(
    request: WorkspaceRequest,
    origin: Origin,
    record: WorkspaceRecord,
  ): Promise<OpenWorkspace | WorkspaceFailure> {
    const { role, isContinued, task, signal } = request;
    const place = { record, origin, desk: await this.#desk(record, origin, signal) };
    const isChanged = await this.#outside.isChanged(record.id);
    const hasFiles = record.state === 'ready' && isFolder(record.folder);
    const isThere = hasFiles && this.#trees.isKnown(record, origin);
    if (hasFiles && !isThere) await keepLeft(place);
    if (role === 'qa' || isContinued) {
      const result = resultOf(record, task)?.commit;
      if (!isThere) return this.#build(request, place, { commit: result ?? startOf(record, task) });
      if (result !== undefined && (!isContinued || isChanged))
        await resetFiles(place, result, { trees: this.#trees, signal });
      return this.#opened(request, place);
    }
    if (isThere) this.#trees.unlock(place);
    this.#outside.begins(record);
    const results = resultsBefore(record.results ?? [], task);
    if (results.length === 0) {
      const base = record.kind === 'copy' ? record.base : await this.#origins.base(origin, request);
      if (!isThere || base !== record.base) {
        if (isThere) await keepLeft(place);
        return this.#make(request, origin, { previous: record });
      }
    }
    const begun = { ...place, record: { ...record, results } };
    const start = startOf(record, task);
    if (!isThere) return this.#build(request, begun, { commit: start });
    await resetFiles(place, start, { trees: this.#trees, signal, isRewound: true });
    await this.#options.records.write(begun.record);
    return this.#opened(request, begun);
  }

  /**
   * `previous`: it was not finished, or its folder is gone, or its base has moved. Its names stay. `earlier`: where a
   * test starts.
   */
  async #make(
    request: WorkspaceRequest,
    origin: Origin,
    { previous, earlier }: { readonly previous?: WorkspaceRecord; readonly earlier?: Earlier | undefined } = {},
  ): Promise<OpenWorkspace | WorkspaceFailure> {
    const { item, kind, signal, include } = request;
    const base = earlier ? earlier.base : await this.#origins.base(origin, request);
    const included = findIncluded(include, origin.files);
    for (const path of included.missing)
      this.#warnOnce(`\`include: ${path}\` names nothing that is in ${origin.files}`);
    const record = await this.#reservations.reserve(request, origin, {
      ...{ id: item.id, row: item.row, kind, from: origin.from, base, state: 'preparing' },
      ...{ madeAt: new Date(this.#options.now()).toISOString(), included: included.paths },
      ...(previous && { slug: previous.slug, folder: previous.folder, branch: previous.branch }),
      ...(previous?.delivery && { delivery: previous.delivery }),
    });
    const desk = await this.#desk(record, origin, signal);
    if (!earlier) return this.#build(request, { record, origin, desk }, {});
    const { git, folders } = this.#options;
    await fetchEarlier(git, earlier, { from: folders.desk(earlier.id), to: desk.folder }, signal);
    const { results, prepared } = earlier;
    const begun = { ...record, results, ...(prepared === undefined ? {} : { prepared }) };
    return this.#build(request, { record: begun, origin, desk }, { commit: startOf(begun, request.task) });
  }

  /** What is wrong with the settings is wrong for each row. */
  #warnOnce(message: string): void {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    this.#options.warn(message);
  }

  /** Makes the folder, with its files at `commit` or else at `base`, and prepares it. */
  async #build(
    request: WorkspaceRequest,
    place: Place,
    { commit }: { readonly commit?: string | undefined },
  ): Promise<OpenWorkspace | WorkspaceFailure> {
    const { records, failpoint } = this.#options;
    const { signal, include, setUp } = request;
    const { origin, desk } = place;
    let record: WorkspaceRecord = { ...place.record, state: 'preparing' };
    this.#outside.begins(record);
    await this.#trees.clear(record, origin);
    rmSync(desk.index, { force: true });
    if (commit !== undefined) await records.write(record);
    await this.#trees.add({ ...place, record }, signal);
    failpoint('workspace:added');
    if (record.kind === 'copy' && record.base === undefined) {
      const kept = { name: 'base', parent: undefined, message: 'The folder as it was\n' };
      record = { ...record, base: await desk.keep(await desk.tree(undefined), kept) };
    } else {
      // For `setup`, it is as fresh as it was at first.
      await this.#trees.fill({ ...place, record }, setUp ? record.base : (commit ?? record.base), signal);
    }
    await addIncluded(include, { from: origin.files, to: record.folder }, signal);
    if (setUp) {
      const opened = await this.#opened(request, { ...place, record });
      const failure = await setUp(opened);
      if (failure) {
        opened.leave();
        return failure;
      }
      record = await keepPrepared(desk, record, commit);
      if (commit !== undefined) await this.#trees.addSubmodules({ ...place, record }, signal);
    }
    record = { ...record, state: 'ready' };
    await records.write(record);
    failpoint('workspace:ready');
    return this.#opened(request, { record, origin, desk: await this.#desk(record, origin, signal) });
  }

  async #opened(request: WorkspaceRequest, { record, origin, desk }: Place): Promise<OpenWorkspace> {
    const { records, now, failpoint } = this.#options;
    const folder = enter(record.folder, origin.below);
    const port = await this.#ports.of(record.id);
    const onKept = () => failpoint('workspace:kept');
    const reads = origin.source ? [origin.source.folder, origin.source.commonDir] : [];
    const restore = (signal: AbortSignal) => this.open({ ...request, isContinued: true, signal });
    const outside = this.#outside;
    const { task, scripts = [] } = request;
    await outside.enter(record.id, { record, origin, desk, scripts });
    return new LocalWorkspace({ task, record, desk, records, folder, port, reads, outside, now, onKept, restore });
  }

  #desk({ id, folder, branch, included }: WorkspaceRecord, { source }: Origin, signal: AbortSignal): Promise<Desk> {
    const { git, folders } = this.#options;
    return Desk.open(git, { folder: folders.desk(id), workspace: folder, source, branch, included }, signal);
  }
}
