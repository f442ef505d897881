import { join } from 'node:path';
import { systemError } from '../../core/model/system-errors.ts';
import { isTestId } from '../../core/workspace/branch-name.ts';
import { isOverWhenDelivered } from '../../core/workspace/delivery.ts';
import { workspacesWithoutRow } from '../../core/workspace/kept.ts';
import type {
  Deliveries,
  DeliveryRequest,
  DeliveryResult,
  OpenWorkspace,
  WorkspaceFailure,
  WorkspaceRequest,
  Workspaces,
} from '../../core/workspace/workspaces.ts';
import { findRow } from '../../engine/find-row.ts';
import { removeTemporaries } from '../../store/folder/files/atomic-write.ts';
import { lockWithin } from '../../store/folder/files/flock.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { FolderWorkspaceRecords } from '../../store/folder/workspace-records.ts';
import type { Store } from '../../store/store.ts';
import type { AwayRows } from '../../workspace/away-rows.ts';
import { LocalDeliveries } from '../../workspace/delivery/deliveries.ts';
import { GitFailure } from '../../workspace/git.ts';
import { LocalWorkspaces, type WorkspacesOptions } from '../../workspace/local-workspaces.ts';
import type { RepositoryLock } from '../../workspace/mirror.ts';
import type { WorkspaceRecord, WorkspaceRecords } from '../../workspace/records.ts';
import { RunCopies } from '../../workspace/run-copies.ts';
import { deliveryParts } from '../delivery/delivery-parts.ts';
import { repositoryLockFile, stateFolder } from '../state-folder.ts';
import type { World } from '../world.ts';
import { workspaceGit } from './workspace-git.ts';

/** As long as another process may take for a large repository. */
const LOCK_MS = 5 * 60_000;

export interface WorkspaceMeans {
  readonly paths: ShiftPaths;
  readonly world: World;
  failpoint(name: string): void;
  warn(message: string): void;
}

/** The workspaces of a shift and their deliveries, for the process that has its run lock. */
export class RunWorkspaces implements Workspaces, Deliveries {
  readonly #workspaces: LocalWorkspaces;
  readonly #deliveries: LocalDeliveries;
  readonly #records: WorkspaceRecords;
  readonly #paths: ShiftPaths;
  readonly #warn: (message: string) => void;
  readonly #copies: RunCopies;

  constructor({ paths, world, failpoint, warn }: WorkspaceMeans) {
    this.#copies = new RunCopies(paths.sources);
    const { folder: copies, isLeft } = this.#copies;
    const git = workspaceGit({ root: paths.root, copies, isLeft, world, shiftFolder: paths.folder });
    this.#paths = paths;
    this.#warn = warn;
    this.#records = new FolderWorkspaceRecords(paths, warn);
    const parts = { git, records: this.#records, failpoint };
    this.#workspaces = openWorkspaces(paths, world, { ...parts, warn, sources: copies });
    const openDesk = (record: WorkspaceRecord, signal: AbortSignal) => this.#workspaces.openDesk(record, signal);
    this.#deliveries = new LocalDeliveries(deliveryParts(paths, world, { ...parts, openDesk }));
  }

  /** Before any agent starts: finishes what a killed run left. Workspaces of rows that are gone stay, and are told. */
  async recover(store: Pick<Store, 'snapshot'>): Promise<void> {
    await removeTemporaries(this.#paths.workspaces);
    await this.#workspaces.recover(new AbortController().signal);
    const records = (await this.#records.all()).filter(({ state }) => state !== 'removed');
    if (records.length === 0) return;
    const table = await store.snapshot();
    const isWithoutRow = ({ id, row }: WorkspaceRecord) => !isTestId(id) && findRow(table, id, row - 1) === undefined;
    const sentence = workspacesWithoutRow(records.filter(isWithoutRow));
    if (sentence !== undefined) this.#warn(sentence);
  }

  /** In a fleet: rows that workers work on. */
  get away(): AwayRows {
    return this.#workspaces.away;
  }

  open(request: WorkspaceRequest): Promise<OpenWorkspace | WorkspaceFailure> {
    return this.#workspaces.open(request);
  }

  /** A workspace whose result is delivered is removed; its branch and its record stay. */
  async deliver(request: DeliveryRequest): Promise<DeliveryResult> {
    const result = await this.#deliveries.deliver(request);
    const record = await this.#records.read(request.id);
    const isSent = result.kind === 'delivered' && !request.isHeld;
    if (isSent && record && isOverWhenDelivered(record.kind, request.kind)) {
      await this.#removeDelivered(record, request.signal);
    }
    return result;
  }

  /** What was delivered counts, also if its folder can't be removed: the next run tries again. */
  async #removeDelivered(record: WorkspaceRecord, signal: AbortSignal): Promise<void> {
    try {
      await this.#workspaces.remove(record, signal);
    } catch (error) {
      const why = systemError(error);
      if (!why && !(error instanceof GitFailure)) throw error;
      this.#warn(
        `row ${record.row}: its workspace ${record.folder} can't be removed: ${(why ?? (error as Error)).message}`,
      );
    }
  }

  /**
   * The run has ended by itself: the next one reads hooks and configuration again. Otherwise it uses those of this run.
   * `isRun`: false for a command that only adds to what a killed run left.
   */
  async end({ isRun }: { readonly isRun: boolean }): Promise<void> {
    if (!isRun && this.#copies.isLeft) return;
    try {
      await this.#copies.end(this.#paths.desks);
    } catch (error) {
      const why = systemError(error);
      if (!why) throw error;
      this.#warn(`${this.#copies.folder} can't be removed: ${why.message}`);
    }
  }

  /** At the end of a run: tells what else agents have changed outside of their workspaces. */
  lookOutside(): Promise<void> {
    return this.#workspaces.lookOutside();
  }

  /** Removes its folder, whatever it holds. Its desk stays. */
  remove(record: WorkspaceRecord, signal: AbortSignal): Promise<void> {
    return this.#workspaces.remove(record, signal);
  }
}

/** The default of `workspaces-dir`. */
export function defaultWorkspacesDir(world: World): string {
  return join(stateFolder(world), 'workspaces');
}

/** Mirrors of remotes, for all shifts of the person. */
export function mirrorsFolder({ env }: World): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME ?? '/', '.cache'), 'nightshift', 'mirrors');
}

/** The kernel releases it with the process. */
export function repositoryLock(world: World): RepositoryLock {
  return (repository) => lockWithin(repositoryLockFile(world, 'worktree', repository), LOCK_MS);
}

function openWorkspaces(
  paths: ShiftPaths,
  world: World,
  { sources, ...parts }: Pick<WorkspacesOptions, 'git' | 'records' | 'failpoint' | 'warn'> & { sources: string },
): LocalWorkspaces {
  const { now } = world;
  const { root, name, desk } = paths;
  return new LocalWorkspaces({
    ...parts,
    shift: name,
    folders: { root, workspaces: defaultWorkspacesDir(world), mirrors: mirrorsFolder(world), sources, desk },
    lock: repositoryLock(world),
    now,
  });
}
