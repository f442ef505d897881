import { baseRefOf, type CarriedResult, type CarriedWorkspace, resultRefOf } from '../core/workspace/carried.ts';
import type { WorkspaceFailure, WorkspaceRequest } from '../core/workspace/workspaces.ts';
import { NotThere } from './base.ts';
import { DeskGit } from './delivery/desk-git.ts';
import type { Desk } from './desk.ts';
import { isFolder } from './enter.ts';
import { failureOf } from './failure.ts';
import type { Git } from './git.ts';
import { keepLeft } from './kept-trees.ts';
import { type Origin, type OriginFinder, refuseOther } from './origin.ts';
import {
  isJudged,
  resultOf,
  resultsBefore,
  startOf,
  type TaskResult,
  type WorkspaceRecord,
  type WorkspaceRecords,
} from './records.ts';
import { type AskRemote, deleteRefs, fetchFrom, listRefs, type Relay, RelayFailure, relayOf } from './relay.ts';
import type { Reservations } from './reservations.ts';
import { SentRefs } from './sent-refs.ts';
import { inSource } from './source.ts';
import type { Place, Trees } from './tree.ts';

export interface AwayOptions {
  readonly git: Git;
  readonly records: WorkspaceRecords;
  readonly origins: OriginFinder;
  readonly reservations: Reservations;
  readonly trees: Trees;
  openDesk(record: WorkspaceRecord, origin: Origin, signal: AbortSignal): Promise<Desk>;
  now(): number;
}

/** Of an order that is about to be sent. `order`: different for each. `prefix`: of the refs of the shift. */
export interface Departure {
  readonly prefix: string;
  readonly order: string;
}

/** A result that a worker has sent. */
export interface Arrival {
  readonly id: string;
  readonly task: string;
  readonly carried: CarriedWorkspace;
  readonly result: CarriedResult;
}

interface Connected extends Place {
  readonly relay: Relay;
  readonly git: DeskGit;
  readonly ask: AskRemote;
}

/**
 * The rows of a shift that workers of a fleet work on. Their records and desks are on this machine, and hold every
 * result durably before its row goes on. The relay only carries: what it lacks is sent again from the desk.
 */
export class AwayRows {
  readonly #options: AwayOptions;
  readonly #sent = new SentRefs();
  /** Rows as they were sent: a delivery that changed nothing removes the record. */
  readonly #departed = new Map<string, WorkspaceRecord>();
  /** The last operation on each row: operations on the same row run one after the other. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(options: AwayOptions) {
    this.#options = options;
  }

  /** Prepares a row for an order. The relay has all that the worker needs. */
  depart(
    request: WorkspaceRequest,
    departure: Departure,
  ): Promise<{ readonly kind: 'carried'; readonly carried: CarriedWorkspace } | WorkspaceFailure> {
    return this.#inTurn(request.item.id, async () => {
      try {
        const row = await this.#prepare(request);
        return { kind: 'carried', carried: await this.#carry(row, request, departure) };
      } catch (error) {
        return failureFrom(error, request.signal);
      }
    });
  }

  /** Fetches a result from the relay, durably. Idempotent. Throws if the result can't be fetched or is not valid. */
  arrive({ id, task, carried, result }: Arrival, signal: AbortSignal): Promise<void> {
    return this.#inTurn(id, async () => {
      const { records, now } = this.#options;
      const { commit, prepared } = result;
      const ref = carried.sendTo;
      const known = await records.read(id);
      if (known === undefined || ref === undefined) throw new NotThere('its workspace is not known any more');
      const { git, relay, ask } = await this.#connect(known, signal);
      const name = `refs/nightshift/result/${task}`;
      await fetchFrom(relay.remote, { ref, to: name }, ask);
      const arrived = await git.ask("git can't find the result", ['rev-parse', name]);
      const before = resultsBefore(known.results ?? [], task);
      const isFirst = before.length === 0 && prepared !== undefined;
      const record = isFirst ? { ...known, prepared } : known;
      const steps = [
        record.base,
        ...(isFirst ? [prepared] : []),
        startOf({ ...record, results: before }, task),
        commit,
      ];
      if (arrived !== commit || !(await isLine(git, steps))) {
        throw new NotThere(`the result that its worker sent is not what it reported: ${arrived}`);
      }
      if (isFirst) await git.ask("git can't keep a commit", ['update-ref', 'refs/nightshift/prepared', prepared]);
      this.#sent.add(relay, ref);
      const own: TaskResult = { task, commit, at: new Date(now()).toISOString(), ref };
      const isKnown = resultOf(record, task)?.commit === commit;
      if (!isKnown) await records.write({ ...record, state: 'away', results: [...before, own] });
    });
  }

  /** A worker could not get what the relay should have. */
  doubt({ relay, baseRef, resultRef }: CarriedWorkspace): void {
    this.#sent.forget(relay, [baseRef, resultRef]);
  }

  /** The relay need not keep anything for this row. */
  removeRefs(id: string, signal: AbortSignal): Promise<void> {
    return this.#inTurn(id, async () => {
      const { records } = this.#options;
      const record = (await records.read(id)) ?? this.#departed.get(id);
      const { relayRefs: refs = [] } = record ?? {};
      if (record === undefined || refs.length === 0) return;
      const { relay, ask } = await this.#reach(record, signal);
      const isKnown = refs.every((ref) => this.#sent.has(relay, ref));
      const there = isKnown ? refs : await listRefs(relay.remote, prefixIn(refs[0]!), ask);
      this.#sent.forget(relay.address, refs);
      const left = refs.filter((ref) => there.includes(ref));
      await deleteRefs(relay.remote, left, ask);
      await this.#forgetRefs(id);
    });
  }

  /** At the end of a run: nothing of the shift stays on its relays, also of runs before it. */
  async sweep(prefix: string, signal: AbortSignal): Promise<void> {
    const all = [...this.#departed.values(), ...(await this.#options.records.all())];
    const placeOf = ({ kind, from }: WorkspaceRecord) => `${kind} ${from}`;
    for (const place of new Set(all.map(placeOf))) {
      const rows = all.filter((each) => placeOf(each) === place);
      const [record] = rows;
      const isUsed = rows.some(({ relayRefs = [] }) => relayRefs.length > 0);
      // A clone has its base in a branch of the remote.
      if (record === undefined || record.kind === 'copy' || (record.kind === 'clone' && !isUsed)) continue;
      const { relay, ask } = await this.#reach(record, signal);
      await deleteRefs(relay.remote, await listRefs(relay.remote, prefix, ask), ask);
      for (const { id } of rows) await this.#forgetRefs(id);
    }
    this.#sent.clear();
  }

  async #forgetRefs(id: string): Promise<void> {
    const { records } = this.#options;
    this.#departed.delete(id);
    const { relayRefs, ...rest } = (await records.read(id)) ?? {};
    if (relayRefs !== undefined) await records.write(rest as WorkspaceRecord);
  }

  async #prepare(request: WorkspaceRequest): Promise<Connected> {
    const { records, origins } = this.#options;
    const { role, isContinued, task, item, signal } = request;
    signal.throwIfAborted();
    const known = await records.read(item.id);
    const before = resultsBefore(known?.results ?? [], task);
    const isOngoing = role === 'qa' || isContinued;
    const origin = await origins.find(request, isOngoing || before.length > 0);
    relayOf(origin, request.kind);
    if (known) {
      refuseOther(known, request, origin);
      await this.#clearFolder(known, origin, signal);
    }
    const hasBegun = known !== undefined && (before.length > 0 || (isOngoing && resultOf(known, task) !== undefined));
    const record = hasBegun
      ? { ...known, state: 'away' as const, ...(isOngoing ? {} : { results: before }) }
      : await this.#begin(request, origin, known);
    return this.#connect(record, signal, origin);
  }

  /** The row begins with its base. */
  async #begin(request: WorkspaceRequest, origin: Origin, known?: WorkspaceRecord): Promise<WorkspaceRecord> {
    const { reservations, origins, now } = this.#options;
    const { item, kind } = request;
    return reservations.reserve(request, origin, {
      ...{ id: item.id, row: item.row, kind, from: origin.from, state: 'away', included: [] },
      ...{ base: await origins.base(origin, request), madeAt: new Date(now()).toISOString() },
      ...(known && { slug: known.slug, folder: known.folder, branch: known.branch }),
      ...(known?.delivery && { delivery: known.delivery }),
      ...(known?.relayRefs && { relayRefs: known.relayRefs }),
    });
  }

  /** What an earlier run without a fleet, or an interrupted delivery, left here is kept. */
  async #clearFolder(record: WorkspaceRecord, origin: Origin, signal: AbortSignal): Promise<void> {
    if (!isFolder(record.folder)) return;
    const { openDesk, trees } = this.#options;
    const desk = await openDesk(record, origin, signal);
    const last = record.results?.at(-1)?.commit ?? record.prepared ?? record.base;
    const isChanged = record.state === 'ready' && (await desk.tree(last)) !== (await desk.treeOf(last));
    if (isChanged) await keepLeft({ record, origin, desk });
    await trees.clear(record, origin);
  }

  async #connect(record: WorkspaceRecord, signal: AbortSignal, found?: Origin): Promise<Connected> {
    const { origins, openDesk, git } = this.#options;
    const origin = found ?? (await origins.again(record, signal));
    const desk = await openDesk(record, origin, signal);
    const deskGit = new DeskGit(git, { desk, source: origin.source }, signal);
    const ask: AskRemote = (args) => deskGit.run(args, { isRemote: true });
    return { record, origin, desk, git: deskGit, ask, relay: relayOf(origin, record.kind) };
  }

  /** Without its desk, which may be gone. */
  async #reach(record: WorkspaceRecord, signal: AbortSignal): Promise<Pick<Connected, 'relay' | 'ask'>> {
    const { origins, git } = this.#options;
    const origin = await origins.again(record, signal);
    const { source } = origin;
    const ask: AskRemote = (args) => git.run({ ...inSource(source!, args, signal), isRemote: true });
    return { ask, relay: relayOf(origin, record.kind) };
  }

  async #carry(
    { record, origin, relay, ask }: Connected,
    { role, task, item }: WorkspaceRequest,
    { prefix, order }: Departure,
  ): Promise<CarriedWorkspace> {
    const { base, prepared, branch, results = [], relayRefs = [] } = record;
    const last = results.at(-1);
    const resultRef = last && (last.ref ?? resultRefOf(prefix, { task: last.task, item: item.id }, last.commit));
    const baseRef = base !== undefined && record.kind === 'worktree' ? baseRefOf(prefix, base) : undefined;
    const sendTo = role === 'dev' ? resultRefOf(prefix, { task, item: item.id }, order) : undefined;
    const refs = [resultRef, sendTo].filter((ref) => ref !== undefined);
    // Record the refs before anything is pushed, so that they are removed even after a crash.
    const departed = { ...record, relayRefs: [...new Set([...relayRefs, ...refs])] };
    await this.#options.records.write(departed);
    this.#departed.set(item.id, departed);
    if (base !== undefined && baseRef !== undefined) await this.#sent.send(relay, { commit: base, ref: baseRef }, ask);
    if (last && resultRef) await this.#sent.send(relay, { commit: last.commit, ref: resultRef }, ask);
    return {
      ...{ relay: relay.address, below: origin.below, branch },
      ...{ results: results.map(({ task, commit }) => ({ task, commit })) },
      ...(base !== undefined && { base }),
      ...(baseRef !== undefined && { baseRef }),
      ...(prepared !== undefined && results.length > 0 && { prepared }),
      ...(resultRef !== undefined && { resultRef }),
      ...(sendTo !== undefined && { sendTo }),
      ...(role === 'qa' && isJudged(record, task) && { isJudged: true as const }),
    };
  }

  #inTurn<T>(id: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(id) ?? Promise.resolve()).then(act, act);
    this.#turns.set(id, turn);
    const forget = () => {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    };
    turn.then(forget, forget);
    return turn;
  }
}

/** On the coordinator, a failing relay is trouble for the whole run: all rows use it. */
function failureFrom(error: unknown, signal: AbortSignal): WorkspaceFailure {
  if (!(error instanceof RelayFailure) || signal.aborted) return failureOf(error, signal);
  return { kind: 'trouble', trouble: error.trouble };
}

/** The part of a ref that all refs of a shift have. */
function prefixIn(ref: string): string {
  return ref.split('/').slice(0, 3).join('/');
}

/** Whether each of these commits contains the one before. */
async function isLine(git: DeskGit, commits: readonly (string | undefined)[]): Promise<boolean> {
  const known = commits.filter((commit) => commit !== undefined);
  for (const [at, commit] of known.entries()) {
    if (at > 0 && !(await git.isAncestor(known[at - 1]!, commit))) return false;
  }
  return true;
}
