import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Trouble } from '../core/model/model.ts';
import { slugOf } from '../core/workspace/branch-name.ts';
import { type CarriedWorkspace, readCarried } from '../core/workspace/carried.ts';
import type {
  Deliveries,
  OpenWorkspace,
  SentResult,
  WorkspaceFailure,
  WorkspaceRequest,
  Workspaces,
} from '../core/workspace/workspaces.ts';
import { NotThere } from './base.ts';
import { CarriedOrigins } from './carried-origins.ts';
import { DeskGit } from './delivery/desk-git.ts';
import { Desk } from './desk.ts';
import { failureOf } from './failure.ts';
import type { Git } from './git.ts';
import { LocalWorkspaces } from './local-workspaces.ts';
import { MemoryRecords } from './memory-records.ts';
import { Mirrors, type RepositoryLock } from './mirror.ts';
import { resultOf, resultsBefore, type WorkspaceRecord } from './records.ts';
import { fetchFrom, pushTo, RelayFailure } from './relay.ts';
import { removeFolder } from './remove-folder.ts';
import { Sources } from './sources.ts';

/** How long a result waits for a remote that can't be reached; as long as for the database. */
const PATIENCE_MS = 15 * 60_000;
/** What only a person can fix, such as a login, may also be a remote that is just being replaced. */
const SHORT_PATIENCE_MS = 60_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

export interface CarriedOptions {
  readonly git: Git;
  /** The worker's own. Everything in it ends with the worker. */
  readonly folder: string;
  /** Shared with other processes of the person. */
  readonly mirrors: string;
  readonly lock: RepositoryLock;
  now(): number;
  warn(message: string): void;
}

/**
 * The workspaces of a worker in a fleet. Each order gets a fresh one, made from what the relay has; it is gone when the
 * order has ended. The record of the row, its delivery and all that lasts are on the machine of the coordinator.
 */
export class CarriedWorkspaces implements Workspaces, Deliveries, AsyncDisposable {
  readonly #options: CarriedOptions;
  readonly #records = new MemoryRecords();
  readonly #origins: CarriedOrigins;
  readonly #local: LocalWorkspaces;
  readonly #leaving = new Set<Promise<void>>();
  #opened = 0;

  constructor(options: CarriedOptions) {
    const { git, folder, mirrors, lock, now, warn } = options;
    this.#options = options;
    this.#origins = new CarriedOrigins(
      new Mirrors(git, mirrors, { lock, now }),
      new Sources(git, join(folder, 'sources'), warn),
    );
    this.#local = new LocalWorkspaces({
      ...{ git, lock, now, warn, records: this.#records, origins: this.#origins, shift: 'fleet' },
      folders: { root: folder, workspaces: folder, mirrors, sources: folder, desk: (id) => join(folder, 'desks', id) },
      failpoint: () => {},
    });
  }

  async open(request: WorkspaceRequest): Promise<OpenWorkspace | WorkspaceFailure> {
    const { signal } = request;
    const carried = readCarried(request.carried);
    if (carried === undefined) return failureOf(new NotThere('its order has no usable workspace'), signal);
    const record = this.#recordOf(request, carried);
    const { id } = record;
    const own: WorkspaceRequest = {
      ...{ ...request, kind: 'clone', repo: carried.relay, carried, include: [], branch: carried.branch },
      item: { ...request.item, id },
    };
    let opened: OpenWorkspace | WorkspaceFailure;
    try {
      await this.#records.write(record);
      await this.#fetchResults(record, own, carried);
      opened = await this.#local.open(own);
    } catch (error) {
      try {
        opened = failureFrom(error, signal);
      } catch (bug) {
        await this.#remove(id);
        throw bug;
      }
    }
    if (opened.kind === 'open') return this.#lent(opened, { id, task: request.task, carried });
    await this.#remove(id);
    return opened;
  }

  /** What is delivered is on the machine of the coordinator. */
  async deliver(): Promise<never> {
    throw new Error('a worker of a fleet delivers nothing');
  }

  /** Resolves when the folders of all orders are gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#leaving);
  }

  /** Different for each order: a late one may still be there when its item is given again. */
  #recordOf({ item }: WorkspaceRequest, { relay, branch, base, prepared, results }: CarriedWorkspace): WorkspaceRecord {
    const id = `${item.id}-${++this.#opened}`;
    const slug = slugOf(item.label ?? '', item.row);
    const at = new Date(this.#options.now()).toISOString();
    return {
      ...{ id, row: item.row, slug, kind: 'clone', from: relay, branch, base, madeAt: at, state: 'preparing' },
      folder: join(this.#options.folder, 'workspaces', `${item.row}-${slug}-${this.#opened}`),
      ...(prepared !== undefined && { prepared }),
      ...(results.length > 0 && { results: results.map((result) => ({ ...result, at })) }),
    };
  }

  async #fetchResults(record: WorkspaceRecord, request: WorkspaceRequest, carried: CarriedWorkspace): Promise<void> {
    const { resultRef, results, relay } = carried;
    if (resultRef === undefined) {
      // Fetch the mirror here, so that a failure counts as trouble of this worker and not of the item.
      await this.#origins.find(request);
      return;
    }
    const desk = await this.#deskGit(record, request.signal, request);
    await fetchFrom(relay, { ref: resultRef, to: 'refs/nightshift/given' }, (args) =>
      desk.run(args, { isRemote: true }),
    );
    const last = results.at(-1)!.commit;
    if (await desk.has(last)) return;
    throw new RelayFailure(relay, `has no commit ${last}`, { kind: 'not-run', reason: 'it was removed there' });
  }

  async #deskGit(record: WorkspaceRecord, signal: AbortSignal, request?: WorkspaceRequest): Promise<DeskGit> {
    const { git, folder } = this.#options;
    const { source } = request ? await this.#origins.find(request) : await this.#origins.again(record, signal);
    const options = {
      folder: join(folder, 'desks', record.id),
      workspace: record.folder,
      source,
      branch: record.branch,
    };
    return new DeskGit(git, { desk: await Desk.open(git, options, signal), source }, signal);
  }

  #lent(opened: OpenWorkspace, order: Lent): OpenWorkspace {
    const { top, folder, branch, reads, base, after, isJudged, environment } = opened;
    return {
      ...{ kind: 'open', top, folder, branch, reads, base, after, isJudged, environment },
      change: (signal) => opened.change(signal),
      send: (signal) => this.#send(order, signal),
      restore: (signal) => opened.restore(signal),
      trespassOf: (calls) => opened.trespassOf(calls),
      leave: () => {
        const leaving = this.#remove(order.id)
          .finally(() => opened.leave())
          .finally(() => this.#leaving.delete(leaving));
        this.#leaving.add(leaving);
      },
    };
  }

  async #send({ id, task, carried }: Lent, signal: AbortSignal): Promise<SentResult | WorkspaceFailure> {
    try {
      const record = await this.#records.read(id);
      const commit = record && resultOf(record, task)?.commit;
      if (commit === undefined || carried.sendTo === undefined) throw new NotThere('there is no result to send');
      const desk = await this.#deskGit(record!, signal);
      const push = () =>
        pushTo(carried.relay, { commit, ref: carried.sendTo! }, (args) => desk.run(args, { isRemote: true }));
      await patiently(push, { signal, warn: this.#options.warn });
      const isFirst = resultsBefore(record!.results ?? [], task).length === 0;
      const prepared = isFirst ? record!.prepared : undefined;
      return { kind: 'sent', carried: { commit, ...(prepared !== undefined && { prepared }) } };
    } catch (error) {
      return failureFrom(error, signal);
    }
  }

  /** What can't be removed is removed by the next worker. */
  async #remove(id: string): Promise<void> {
    const { folder, warn } = this.#options;
    const record = await this.#records.read(id);
    if (record === undefined) return;
    try {
      await this.#local.remove(record, new AbortController().signal);
      await removeFolder(join(folder, 'desks', id));
    } catch (error) {
      warn(`${record.folder} can't be removed: ${error instanceof Error ? error.message : String(error)}`);
    }
    await this.#records.remove(id);
  }
}

/** The workspace of an order. */
interface Lent {
  readonly id: string;
  readonly task: string;
  readonly carried: CarriedWorkspace;
}

/** Retries for a while: a result may be hours of work. */
async function patiently(
  act: () => Promise<void>,
  { signal, warn }: { readonly signal: AbortSignal; readonly warn: (message: string) => void },
): Promise<void> {
  const since = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted || !(error instanceof RelayFailure)) throw error;
      const patienceMs = error.isTrouble ? PATIENCE_MS : SHORT_PATIENCE_MS;
      if (performance.now() - since > patienceMs) throw error;
      if (pauseMs === FIRST_PAUSE_MS) warn(`${error.trouble.reason}; retrying`);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** A relay that can't be reached from here is the trouble of this worker: others may reach it. */
function failureFrom(error: unknown, signal: AbortSignal): WorkspaceFailure {
  if (!(error instanceof RelayFailure) || signal.aborted) return failureOf(error, signal);
  const trouble: Trouble = { ...error.trouble, isWorker: true, offer: 'workspace:git' };
  return { kind: 'trouble', trouble };
}
