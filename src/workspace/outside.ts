import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Together } from '../core/schedule/together.ts';
import {
  namesOf,
  type OutsideChange,
  type OutsideState,
  outsideChanges,
  showsChange,
} from '../core/workspace/outside.ts';
import { copyIndex } from './copy-index.ts';
import { statsOf } from './foreign.ts';
import { askGit, type Git, GitFailure } from './git.ts';
import { parseSettings } from './settings.ts';
import { inSource, type Source } from './source.ts';

/** An item in its workspace. */
export interface AtWork {
  readonly row: number;
  /** Of its workspace. */
  readonly folder: string;
  readonly source: Source | undefined;
  /** Branches that the engine or the item moves. */
  readonly branches: readonly string[];
}

interface Watched {
  readonly source: Source;
  state: OutsideState;
}

interface Suspicion {
  readonly change: OutsideChange;
  readonly rows: ReadonlySet<number>;
}

/**
 * Notices what changes in the main checkouts of workspaces and in their repositories while items are at work. Without
 * a sandbox nothing prevents it. You may change your own checkout at any time, so an item is blamed only if one of
 * its tool calls shows it.
 */
export class OutsideWatch {
  readonly #git: Git;
  readonly #leftOut: string;
  readonly #warn: (message: string) => void;
  readonly #atWork = new Map<string, AtWork>();
  readonly #watched = new Map<string, Watched>();
  /** All that were at work since the last look. */
  #suspects = new Set<number>();
  #found: Suspicion[] = [];
  readonly #branches = new Set<string>();
  /** Rows whose workspace another row wrote into, and which. */
  readonly #disturbed = new Map<string, number>();
  readonly #looking = new Together(() => this.#lookNow());

  /** `leftOut`: the folder of the shifts. */
  constructor(git: Git, leftOut: string, warn: (message: string) => void) {
    this.#git = git;
    this.#leftOut = leftOut;
    this.#warn = warn;
  }

  async enter(id: string, item: AtWork): Promise<void> {
    const { source, row } = item;
    for (const branch of item.branches) this.#branches.add(`refs/heads/${branch}`);
    this.#atWork.set(id, item);
    this.#disturbed.delete(id);
    this.#suspects.add(row);
    if (!source || source.isBare || this.#watched.has(source.commonDir)) return;
    const state = await this.#stateOf(source);
    if (state) this.#watched.set(source.commonDir, { source, state });
  }

  leave(id: string): void {
    this.#atWork.delete(id);
  }

  /** The row that wrote into the workspace of this item while it was at work. */
  disturberOf(id: string): number | undefined {
    return this.#disturbed.get(id);
  }

  /** Why the attempt of this item fails: a tool call shows that it changed something outside of its workspace. */
  async trespassOf(id: string, calls: readonly string[]): Promise<string | undefined> {
    await this.#looking.done();
    const item = this.#atWork.get(id);
    if (!item) return undefined;
    const entered = [...this.#atWork].filter(
      ([other, { folder }]) => other !== id && calls.some((call) => call.includes(folder)),
    );
    for (const [other] of entered) this.#disturbed.set(other, item.row);
    const isOwn = ({ change, rows }: Suspicion) =>
      rows.has(item.row) && calls.some((call) => showsChange(call, change));
    const own = this.#found.filter(isOwn).map(({ change }) => change);
    const rest = this.#found.filter((each) => !isOwn(each));
    // Others that were at work may still show that it was theirs.
    const isOpen = ({ rows }: Suspicion) =>
      [...this.#atWork.values()].some(({ row }) => row !== item.row && rows.has(row));
    this.#found = rest.filter(isOpen);
    this.#tell(rest.filter((each) => !isOpen(each)));
    const reasons = [
      ...(own.length > 0 ? [`it changed ${namesOf(own)} of ${own[0]!.repository}, outside of its workspace`] : []),
      ...entered.map(([, { row }]) => `it went into the workspace of row ${row}`),
    ];
    return reasons.length === 0 ? undefined : reasons.join('; ');
  }

  #tell(found: readonly Suspicion[]): void {
    const first = found[0];
    if (!first) return;
    const rows = [...new Set(found.flatMap((each) => [...each.rows]))].sort((a, b) => a - b);
    const who = rows.length === 1 ? `row ${rows[0]} was` : `rows ${rows.join(', ')} were`;
    const whose = rows.length === 1 ? 'its workspace' : 'their workspaces';
    const names = namesOf(found.map(({ change }) => change));
    this.#warn(`${first.change.repository}: ${names} changed while ${who} running, outside of ${whose}`);
  }

  async #lookNow(): Promise<void> {
    const rows = this.#suspects;
    this.#suspects = new Set([...this.#atWork.values()].map(({ row }) => row));
    for (const watched of this.#watched.values()) {
      const state = await this.#stateOf(watched.source);
      if (!state) continue;
      const changes = outsideChanges(watched.source.folder, watched.state, state);
      watched.state = state;
      this.#found.push(...changes.map((change) => ({ change, rows })));
    }
  }

  /** Undefined if git can't say: then nothing is blamed. */
  async #stateOf(source: Source): Promise<OutsideState | undefined> {
    try {
      const refs = await this.#branchesOf(source);
      return new Map([
        ...marksIn(source),
        ...(await this.#settingsOf(source)),
        ...refs,
        ...(await this.#filesOf(source)),
      ]);
    } catch (error) {
      if (error instanceof GitFailure) return undefined;
      throw error;
    }
  }

  async #branchesOf(source: Source): Promise<[string, string][]> {
    const args = ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads/'];
    const listed = await askGit(this.#git, "git can't list branches", call(source, args));
    const refs = listed.split('\n').map((line) => line.split(' ') as [string, string]);
    const isEngines = (ref: string) =>
      ref === '' || ref.startsWith('refs/heads/nightshift/') || this.#branches.has(ref);
    return refs.filter(([ref]) => !isEngines(ref));
  }

  /** Git writes settings of branches whenever one is made. */
  async #settingsOf(source: Source): Promise<[string, string][]> {
    const file = join(source.commonDir, 'config');
    const listed = await this.#git.run(call(source, ['config', '--file', file, '--list', '-z']));
    if (listed.kind !== 'done') return [['.git/config', 'unreadable']];
    const settings = parseSettings(listed.text).filter(([key]) => !key.startsWith('branch.'));
    const all = new Map<string, string>();
    for (const [key, value] of settings)
      all.set(`.git/config ${key}`, `${all.get(`.git/config ${key}`) ?? ''}${value}\n`);
    return [...all];
  }

  /** What differs from the index, and the index. */
  async #filesOf(source: Source): Promise<[string, string][]> {
    const index = join(source.standIn, 'outside-index');
    const own = join(source.commonDir, 'index');
    // A linked working tree has its index elsewhere.
    if (join(source.folder, '.git') !== source.commonDir || !statsOf(own)?.isFile()) return [];
    copyIndex(own, index);
    const list = (...args: string[]) => {
      const { env, ...rest } = call(source, ['ls-files', '-z', ...args]);
      const own = { ...env, GIT_WORK_TREE: source.folder, GIT_INDEX_FILE: index };
      return askGit(this.#git, "git can't list files", { ...rest, env: own });
    };
    const leftOut = relative(source.folder, this.#leftOut);
    const except = leftOut.startsWith('..') ? [] : [`:(exclude,literal)${leftOut}`];
    const changed = (await list('--others', '--modified', '--exclude-standard', '--', '.', ...except)).split('\0');
    const marks = changed
      .filter((path) => path !== '')
      .map((path): [string, string] => [path, markOf(join(source.folder, path))]);
    return [
      ...marks,
      [
        'the index',
        createHash('sha256')
          .update(await list('--stage'))
          .digest('hex'),
      ],
    ];
  }
}

/** With the settings of the start of the run: those of the repository may be an agent's. */
function call(source: Source, args: readonly string[]) {
  return inSource(source, args, new AbortController().signal);
}

/** Hooks, ignore rules and HEAD. */
function marksIn({ commonDir }: Source): [string, string][] {
  const folders = ['hooks', 'info'].flatMap((name) => {
    const folder = join(commonDir, name);
    return statsOf(folder)?.isDirectory()
      ? readdirSync(folder).map((file): [string, string] => [`.git/${name}/${file}`, markOf(join(folder, file))])
      : [];
  });
  const head = join(commonDir, 'HEAD');
  return [...folders, ['HEAD', statsOf(head)?.isFile() ? readFileSync(head, 'utf8') : '']];
}

function markOf(path: string): string {
  const stats = statsOf(path);
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.mode}` : 'gone';
}
