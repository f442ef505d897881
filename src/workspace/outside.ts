import { Together } from '../core/schedule/together.ts';
import { withoutLogin } from '../core/workspace/login.ts';
import {
  isShownBy,
  namesByPlace,
  namesWorkspace,
  type OutsideChange,
  type OutsidePlace,
  type OutsideState,
  outsideChanges,
} from '../core/workspace/outside.ts';
import type { Desk } from './desk.ts';
import { isFolder } from './enter.ts';
import { type Git, GitFailure } from './git.ts';
import { commitsMadeIn } from './made-commits.ts';
import type { Origin } from './origin.ts';
import {
  cloneState,
  localRemotes,
  type ReadState,
  remoteState,
  repositoryState,
  workspaceState,
} from './outside-state.ts';
import { OwnBranches } from './own-branches.ts';
import type { WorkspaceRecord, WorkspaceRecords } from './records.ts';

/** So many workspaces of rows that are not at work are read at each look, in turn: there may be hundreds. */
const MOST_IDLE = 4;
const MOST_AT_END = 200;

/** An item in its workspace. */
export interface AtWork {
  readonly record: WorkspaceRecord;
  readonly origin: Origin;
  readonly desk: Desk;
  /** What its agent runs, where that is known. */
  readonly scripts: readonly string[];
}

type Rows = ReadonlyMap<number, AtWork>;

interface Target {
  readonly place: OutsidePlace;
  readonly read: ReadState;
  state: OutsideState;
  /** All that were at work since it was read, by row. */
  suspects: Map<number, AtWork>;
  /** The number of the look that read it last. */
  look: number;
  /** One after the other: a state is never compared with a later one. */
  reading: Promise<unknown>;
  /** The engine works there now, or its row is at work again: a look that still reads it finds nothing. */
  isOver: boolean;
}

interface Suspicion {
  readonly change: OutsideChange;
  readonly rows: Rows;
}

export interface OutsideOptions {
  readonly git: Git;
  readonly shift: string;
  /** The folder of the shifts. */
  readonly leftOut: string;
  readonly records: Pick<WorkspaceRecords, 'all'>;
  warn(message: string): void;
}

/**
 * Notices what changes while items are at work, outside of their workspaces: in main checkouts and their repositories,
 * in remotes on this machine, and in workspaces of rows that are not at work. Without a sandbox nothing prevents it. An
 * item is blamed only if something shows that it did it.
 */
export class OutsideWatch {
  readonly #options: OutsideOptions;
  readonly #own: OwnBranches;
  readonly #atWork = new Map<string, AtWork>();
  readonly #targets = new Map<string, Promise<Target | undefined>>();
  /** Workspaces of rows that are not at work, by id. */
  readonly #idle = new Map<string, Promise<Target | undefined>>();
  /** Those that a tool call names: the next look reads them. */
  readonly #named = new Set<string>();
  #found: Suspicion[] = [];
  /** Rows whose workspace another row went into while they were at work, and which. */
  readonly #disturbed = new Map<string, number>();
  readonly #looking = new Together(() => this.#look());
  #looks = 0;
  /** The look after an item has left. What the next one does is not part of it. */
  #lastLook: Promise<void> = Promise.resolve();

  constructor(options: OutsideOptions) {
    this.#options = options;
    this.#own = new OwnBranches(options.shift, options.records);
  }

  async enter(id: string, item: AtWork): Promise<void> {
    await this.#lastLook;
    const { record, origin } = item;
    this.#disturbed.delete(id);
    this.#atWork.set(id, item);
    for (const target of await this.#all()) target.suspects.set(record.row, item);
    this.#own.enters(record);
    const { git, leftOut } = this.#options;
    const { source } = origin;
    if (source === undefined) return;
    const add = (key: string, place: OutsidePlace, read: ReadState) => {
      if (!this.#targets.has(key)) this.#targets.set(key, this.#watch(place, read));
    };
    if (!source.isBare) {
      const place = { kind: 'repository', folder: source.folder, label: source.folder } as const;
      add(source.commonDir, place, repositoryState(git, source, leftOut));
    } else if (record.kind === 'clone') {
      const place = { kind: 'repository', folder: record.folder, label: withoutLogin(origin.from) } as const;
      add(record.folder, place, cloneState(git, source, record.folder));
    }
    for (const folder of localRemotes(source).values()) {
      add(`remote ${folder}`, { kind: 'remote', folder, label: folder }, remoteState(git, folder));
    }
    await Promise.all(this.#targets.values());
  }

  leave(id: string): void {
    const item = this.#atWork.get(id);
    if (!item) return;
    this.#atWork.delete(id);
    const { folder, row } = item.record;
    this.#targets.delete(folder);
    this.#lastLook = this.#looking.done().then(() => this.#settle());
    // Whoever waits for it gets the error.
    this.#lastLook.catch(() => {});
    // It was delivered.
    if (!isFolder(folder)) return;
    const place = { kind: 'workspace', folder, label: `the workspace of row ${row}` } as const;
    this.#idle.set(id, this.#watch(place, workspaceState(this.#options.git, folder, item.desk)));
  }

  /** Before an item enters its workspace again: whether it was changed since the item left it. */
  async isChanged(id: string): Promise<boolean> {
    const target = await this.#idle.get(id);
    this.#idle.delete(id);
    if (!target) return false;
    const isFound = await this.#read(target);
    target.isOver = true;
    this.#settle();
    return isFound;
  }

  /** A workspace is about to begin, with its branch at its base. */
  begins(record: WorkspaceRecord): void {
    this.#own.begins(record);
    this.forget(record.id);
  }

  /** The engine is about to make or remove this workspace. */
  forget(id: string): void {
    const markOver = (target: Target | undefined) => {
      if (target) target.isOver = true;
    };
    // If reading it fails, the next look reports the error.
    this.#idle.get(id)?.then(markOver, () => {});
    this.#idle.delete(id);
  }

  /** The row that went into the workspace of this item while it was at work. */
  disturberOf(id: string): number | undefined {
    return this.#disturbed.get(id);
  }

  /** Why the attempt of this item fails: it is shown that it changed something outside of its workspace. */
  async trespassOf(id: string, calls: readonly string[]): Promise<string | undefined> {
    const item = this.#atWork.get(id);
    if (!item) return undefined;
    for (const [other, idle] of this.#idle) {
      const target = await idle;
      if (target && calls.some((call) => namesWorkspace(call, target.place.folder))) this.#named.add(other);
    }
    await this.#looking.done();
    const entered = this.#enteredBy(id, item, calls);
    for (const [other] of entered) this.#disturbed.set(other, item.record.row);
    const own = await this.#takeOwn(item, calls);
    this.#settle(item.record.row);
    const reasons = [
      ...namesByPlace(own).map(({ label, names }) => `it changed ${names} of ${label}, outside of its workspace`),
      ...entered.map(([, { record }]) => `it went into the workspace of row ${record.row}`),
    ];
    return reasons.length === 0 ? undefined : reasons.join('; ');
  }

  /** The run ends: looks a last time, also at the workspaces that were not read for long. */
  async end(): Promise<void> {
    const idle = await Promise.all(
      [...this.#idle].map(async ([id, target]) => ({ id, look: (await target)?.look ?? 0 })),
    );
    const last = idle.sort((a, b) => a.look - b.look).slice(0, MOST_AT_END);
    for (const { id } of last) this.#named.add(id);
    await this.#looking.done();
    this.#settle();
  }

  /** Others at work whose workspaces the calls name. What was changed there can't be told from their own work. */
  #enteredBy(id: string, { scripts }: AtWork, calls: readonly string[]): [string, AtWork][] {
    const others = [...this.#atWork].filter(([other]) => other !== id);
    const isIn = (texts: readonly string[], folder: string) => texts.some((text) => namesWorkspace(text, folder));
    const isKnownOfOthers = (folder: string) => others.some(([, other]) => isIn(other.scripts, folder));
    return others.filter(
      ([, { record }]) =>
        isIn(calls, record.folder) || (isIn(scripts, record.folder) && !isKnownOfOthers(record.folder)),
    );
  }

  async #takeOwn(item: AtWork, calls: readonly string[]): Promise<OutsideChange[]> {
    const { row } = item.record;
    const suspected = this.#found.filter(({ rows }) => rows.has(row));
    if (suspected.length === 0) return [];
    const commits = await commitsMadeIn(this.#options.git, item.record, item.origin.source).catch(noneWithoutGit);
    const isOwn = ({ change, rows }: Suspicion) => {
      const otherScripts = [...rows].flatMap(([other, { scripts }]) => (other === row ? [] : scripts));
      return isShownBy(change, { calls, commits, scripts: item.scripts, otherScripts, isAlone: rows.size === 1 });
    };
    const own = new Set(suspected.filter(isOwn));
    this.#found = this.#found.filter((each) => !own.has(each));
    return [...own].map(({ change }) => change);
  }

  /** Tells what can't be shown any more: `asked` and all that are not at work have had their turn. */
  #settle(asked?: number): void {
    const isOpen = ({ rows }: Suspicion) =>
      [...this.#atWork.values()].some(({ record: { row } }) => row !== asked && rows.has(row));
    const over = this.#found.filter((each) => !isOpen(each));
    this.#found = this.#found.filter(isOpen);
    const rows = [...new Set(over.flatMap((each) => [...each.rows.keys()]))].sort((a, b) => a - b);
    const who =
      rows.length === 0 ? 'no row was' : rows.length === 1 ? `row ${rows[0]} was` : `rows ${rows.join(', ')} were`;
    for (const { label, names } of namesByPlace(over.map(({ change }) => change))) {
      this.#options.warn(`${label}: ${names} changed while ${who} running`);
    }
  }

  async #watch(place: OutsidePlace, read: ReadState): Promise<Target | undefined> {
    const suspects = this.#rowsAtWork();
    const state = await read();
    return state && { place, read, state, suspects, look: this.#looks, reading: Promise.resolve(), isOver: false };
  }

  #rowsAtWork(): Map<number, AtWork> {
    return new Map([...this.#atWork.values()].map((item) => [item.record.row, item] as const));
  }

  async #all(): Promise<Target[]> {
    const all = await Promise.all([...this.#targets.values(), ...this.#idle.values()]);
    return all.filter((target) => target !== undefined);
  }

  async #look(): Promise<void> {
    const look = ++this.#looks;
    const named = await Promise.all([...this.#named].map((id) => this.#idle.get(id)));
    this.#named.clear();
    const idle = (await Promise.all(this.#idle.values())).filter((target) => target !== undefined);
    const inTurn = idle.sort((a, b) => a.look - b.look).slice(0, MOST_IDLE);
    const targets = new Set([...(await Promise.all(this.#targets.values())), ...named, ...inTurn]);
    for (const target of targets) {
      if (!target) continue;
      target.look = look;
      await this.#read(target);
    }
  }

  /** Whether something has changed there that the engine has not done. */
  #read(target: Target): Promise<boolean> {
    const found = target.reading.then(() => this.#compare(target));
    target.reading = found.catch(() => {});
    return found;
  }

  async #compare(target: Target): Promise<boolean> {
    const before = target.suspects;
    target.suspects = this.#rowsAtWork();
    const state = await target.read();
    // Also those that entered while it was read: what they did may be part of it.
    const rows = new Map([...before, ...target.suspects]);
    if (!state) target.suspects = rows;
    if (!state || target.isOver) return false;
    const changes = outsideChanges(target.place, target.state, state);
    target.state = state;
    // Without awaiting in between: rows enter and leave meanwhile, and would change the result.
    const others = changes.filter((change) => !this.#own.isOfRow(change, rows));
    const found: Suspicion[] = [];
    for (const change of others) if (!(await this.#own.isDelivered(change))) found.push({ change, rows });
    this.#found.push(...found);
    return found.length > 0;
  }
}

/** If git can't say who made a commit, nobody is blamed for it. */
function noneWithoutGit(error: unknown): ReadonlySet<string> {
  if (error instanceof GitFailure) return new Set();
  throw error;
}
