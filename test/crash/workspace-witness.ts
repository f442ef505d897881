import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceRecord } from '../../src/workspace/records.ts';
import type { Ended, ShiftHandle } from '../harness.ts';
import { type Effect, readEffects } from './effects.ts';
import { type Delivery, git, INTO, KINDS, REPOSITORY, TASKS } from './workspace-shift.ts';

const [, LAST] = TASKS;
const KEY = /^Nightshift-Key: (.*)$/gm;

/** Looks at a shift with workspaces after each kill and at its end, and says what should not be. */
export class WorkspaceWitness {
  readonly violations: string[] = [];
  readonly #shift: ShiftHandle;
  readonly #delivery: Delivery;
  readonly #checkout: string;
  /** Rows whose delivery had begun when the last run ended. */
  #begun = new Set<number>();
  #effects = 0;
  #when = '';

  constructor(shift: ShiftHandle, delivery: Delivery) {
    this.#shift = shift;
    this.#delivery = delivery;
    this.#checkout = this.#lookAtCheckout();
  }

  /** After a kill, or after the end. */
  look(when: string, { stderr }: Ended): void {
    this.#when = when;
    if (stderr !== '') this.#violated(`it said: ${stderr}`);
    const records = this.#records();
    const effects = readEffects(this.#shift);
    this.#checkEffects(effects.slice(this.#effects));
    this.#effects = effects.length;
    this.#begun = new Set(records.flatMap((record) => (hasBegun(record) ? [record.row] : [])));
    if (this.#lookAtCheckout() !== this.#checkout) this.#violated('the checkout of the person has changed');
    this.#checkFolders(records);
    for (const [index, row] of this.#shift.rows().entries()) {
      if (row[LAST] === 'done') this.#checkDelivered(index + 1, records);
    }
    this.#checkOnce(records);
  }

  end(code: number | null): void {
    const statuses = this.#shift.rows();
    for (const [index, kind] of KINDS.entries()) {
      const row = statuses[index]!;
      const what = `row ${index + 1} (${kind})`;
      const found = `${row.make} ${row.polish}`;
      if (!this.#expected(kind).includes(found)) this.#violated(`${what} ended as ${found}: ${this.#why(index)}`);
      this.#checkRecord(index + 1, row[LAST]!);
    }
    const clashes = statuses.filter((row, index) => KINDS[index] === 'clash' && row[LAST] === 'done').length;
    if (this.#delivery === 'merge' && clashes !== 1) this.#violated(`${clashes} rows that clash are merged`);
    const failed = statuses.some((row) => row[LAST] === 'failed');
    if (code !== (failed ? 3 : 0)) this.#violated(`the exit code is ${code}`);
    const left = readdirSync(this.#shift.project.root, { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\.lock$|\.nightshift-tmp$|\.new$/.test(name) && !name.startsWith('state/nightshift/locks/'),
    );
    const own = left.filter((name) => !/\/(run|table\.csv)\.lock$/.test(name));
    if (own.length > 0) this.#violated(`left behind: ${own.join(', ')}`);
    const kept = this.#records().filter(({ state }) => state === 'ready').length;
    const trees = join(this.#shift.project.path(REPOSITORY), '.git', 'worktrees');
    const known = existsSync(trees) ? readdirSync(trees).length : 0;
    if (this.#delivery !== 'pr' && known !== kept) this.#violated(`git knows ${known} working trees, ${kept} are kept`);
  }

  #expected(kind: string): string[] {
    if (kind === 'refused' && this.#delivery !== 'pr') return ['done failed'];
    return kind === 'clash' && this.#delivery === 'merge' ? ['done done', 'done failed'] : ['done done'];
  }

  #why(index: number): string {
    const events = this.#shift.journal().filter((event) => event.index === index && event.reason !== undefined);
    return events.map((event) => `${event.type} ${event.reason}`).join(' | ');
  }

  /** A delivered workspace is removed, one that could not be delivered is kept with what it holds. */
  #checkRecord(row: number, status: string): void {
    const record = this.#records().find((each) => each.row === row);
    if (record === undefined) {
      this.#violated(`row ${row} has no record`);
      return;
    }
    const isThere = existsSync(record.folder);
    if (status === 'done' && (record.state !== 'removed' || isThere)) {
      this.#violated(`row ${row} is delivered, and its workspace is ${record.state}${isThere ? ' and there' : ''}`);
    }
    const files = TASKS.map((task) => join(record.folder, `${task}-${row}.txt`));
    if (status === 'failed' && (record.state !== 'ready' || !files.every(existsSync))) {
      this.#violated(`row ${row} failed, and its workspace is ${record.state} without its files`);
    }
  }

  /** No working tree and no folder that no record knows. */
  #checkFolders(records: readonly WorkspaceRecord[]): void {
    const known = new Set(records.filter(({ state }) => state !== 'removed').map(({ folder }) => folder));
    const repository = this.#shift.project.path(REPOSITORY);
    const listed = git(repository, 'worktree', 'list', '--porcelain').matchAll(/^worktree (.*)$/gm);
    const folders = [...listed].map(([, folder]) => folder!).filter((folder) => folder !== repository);
    for (const folder of folders) if (!known.has(folder)) this.#violated(`no record knows the working tree ${folder}`);
    for (const folder of this.#folders()) {
      if (!known.has(folder.replace(/\.new$/, ''))) this.#violated(`no record knows ${folder}`);
    }
  }

  /** `<workspaces>/<project>/<shift>/<row>`. */
  #folders(): string[] {
    let level = [this.#shift.project.path('state/nightshift/workspaces')];
    for (let depth = 0; depth < 3; depth++) {
      level = level.flatMap((folder) =>
        existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [],
      );
    }
    return level;
  }

  /** Its branch is one commit with its key and both results, where the delivery put it. */
  #checkDelivered(row: number, records: readonly WorkspaceRecord[]): void {
    const record = records.find((each) => each.row === row);
    if (record?.delivery?.state !== 'done') {
      this.#violated(`row ${row} is done, and its delivery is not`);
      return;
    }
    const { branch, base, delivery } = record;
    const folder = this.#delivery === 'pr' ? record.from : this.#shift.project.path(REPOSITORY);
    const files = this.#try(folder, 'ls-tree', '-r', '--name-only', branch).split('\n');
    for (const task of TASKS) {
      if (!files.includes(`${task}-${row}.txt`)) this.#violated(`${branch} is without the result of ${task}`);
    }
    const keys = this.#keys(folder, `${base}..${branch}`);
    if (keys.join() !== delivery.key) this.#violated(`${branch} has the commits ${keys.join()}, not ${delivery.key}`);
    if (this.#delivery === 'merge' && !this.#keys(folder, INTO).includes(delivery.key)) {
      this.#violated(`row ${row} is done and not merged`);
    }
    if (this.#delivery === 'pr' && !this.#pullRequests().includes(branch)) {
      this.#violated(`row ${row} is done and has no pull request`);
    }
  }

  /** No commit, merge or pull request twice. */
  #checkOnce(records: readonly WorkspaceRecord[]): void {
    const repository = this.#shift.project.path(REPOSITORY);
    const isMerged = git(repository, 'branch', '--list', INTO) !== '';
    for (const key of isMerged ? twice(this.#keys(repository, INTO)) : []) this.#violated(`merged twice: ${key}`);
    for (const head of twice(this.#pullRequests())) this.#violated(`two pull requests of ${head}`);
    for (const folder of twice(records.map((record) => record.folder))) this.#violated(`two records of ${folder}`);
  }

  /** Each commit must have one, except the first. */
  #keys(folder: string, range: string): string[] {
    const log = this.#try(folder, 'log', '--format=%x00%B', range);
    return log
      .split('\0')
      .filter((message) => message.trim() !== '' && message.trim() !== 'First')
      .map((message) => [...message.matchAll(KEY)].map(([, key]) => key).join('+') || `none: ${message.trim()}`);
  }

  #pullRequests(): string[] {
    const lines = this.#shift.project.read('pull-requests').split('\n');
    return lines.flatMap((line) => line.split(' ')[1] ?? []);
  }

  /** A result whose delivery has begun has been judged. */
  #checkEffects(fresh: readonly Effect[]): void {
    for (const { what, role, task, row } of fresh) {
      if (what === 'start' && task === LAST && this.#begun.has(row + 1)) {
        this.#violated(`a ${role} began row ${row + 1}, whose delivery had begun`);
      }
    }
  }

  #records(): WorkspaceRecord[] {
    const folder = this.#shift.project.path(this.#shift.folder, '.engine', 'workspaces');
    if (!existsSync(folder)) return [];
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  }

  /** Its files, the bytes of its index, and its HEAD. */
  #lookAtCheckout(): string {
    const folder = this.#shift.project.path(REPOSITORY);
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    const all = [...files.map(({ name }) => name), '.git/index', '.git/HEAD', '.git/refs/heads/main', '.git/config'];
    const hash = createHash('sha256');
    for (const name of all) hash.update(name).update(readFileSync(join(folder, name)));
    return hash.digest('hex');
  }

  #try(folder: string, ...args: string[]): string {
    try {
      return git(folder, ...args);
    } catch (error) {
      this.#violated(`git ${args.join(' ')}: ${(error as Error).message}`);
      return '';
    }
  }

  #violated(what: string): void {
    this.violations.push(`${this.#delivery}, ${this.#when}: ${what}`);
  }
}

function hasBegun({ delivery, results }: WorkspaceRecord): boolean {
  const result = results?.find(({ task }) => task === LAST);
  return result !== undefined && delivery !== undefined && delivery.at >= result.at;
}

function twice(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}
