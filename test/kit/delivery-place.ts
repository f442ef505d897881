import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DeliveryKind } from '../../src/core/workspace/plan.ts';
import type { DeliveryRequest, DeliveryResult } from '../../src/core/workspace/workspaces.ts';
import { LocalDeliveries } from '../../src/workspace/delivery/deliveries.ts';
import type { DeliveryParts } from '../../src/workspace/delivery/outgoing.ts';
import type { ProgramResult, RunProgram } from '../../src/workspace/delivery/pull-request.ts';
import { Desk } from '../../src/workspace/desk.ts';
import type { Git, GitCall } from '../../src/workspace/git.ts';
import type { WorkspaceRecord, WorkspaceRecords } from '../../src/workspace/records.ts';
import { readSource, type Source } from '../../src/workspace/source.ts';

const signal = new AbortController().signal;

/** What a crash looks like to the code that it interrupts. */
class Crash extends Error {}

/** As a global configuration would say it. */
const PERSON = {
  ...{ GIT_CONFIG_COUNT: '2', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'Person' },
  ...{ GIT_CONFIG_KEY_1: 'user.email', GIT_CONFIG_VALUE_1: 'person@example.org' },
};

/** Git as it is, without the protections of the program. */
export const plainGit: Git = {
  async run({ folder, args, env, input }) {
    if (!existsSync(folder)) return { kind: 'not-run', reason: `${folder} is gone` };
    const own = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };
    const ran = spawnSync('git', args, {
      cwd: folder,
      env: { ...process.env, ...own, ...PERSON, ...env },
      input: input ?? '',
      encoding: 'utf8',
    });
    if (ran.status === null) return { kind: 'not-run', reason: String(ran.error) };
    if (ran.status === 0) return { kind: 'done', text: ran.stdout, said: ran.stderr };
    return { kind: 'refused', code: ran.status, said: `${ran.stdout}${ran.stderr}` };
  },
};

/** Pull requests of a forge, as `gh` shows them. */
interface FakePullRequest {
  readonly number: number;
  readonly url: string;
  readonly head: string;
  readonly title: string;
  readonly body: string;
  readonly base: string;
  state: 'OPEN' | 'MERGED' | 'CLOSED';
  /** Of one that is not open any more. */
  commit?: string;
}

/** A repository, its bare remote, a forge, and workspaces of rows. */
export class DeliveryPlace {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-delivery-')));
  readonly repository = join(this.root, 'repository');
  readonly remote = join(this.root, 'remote.git');
  readonly records = new Map<string, WorkspaceRecord>();
  readonly pullRequests: FakePullRequest[] = [];
  /** What `gh` answers in place of its work. */
  ghAnswer: ProgramResult | undefined;
  /** Runs before the checks of a merge; returns why they fail. */
  check: () => Promise<string | undefined> = async () => undefined;
  checks = 0;
  /** Whether git can run: the machine may have no room for it, or the run ends. */
  hasRoom: (call: GitCall) => boolean = () => true;
  readonly #git: Git = {
    run: async (call) => {
      const isRun = this.hasRoom(call) && !call.signal.aborted;
      return isRun ? plainGit.run(call) : { kind: 'not-run', reason: 'no processes left' };
    },
  };
  /** By item: the tree that its last task left. */
  readonly #results = new Map<string, string>();
  source: Source | undefined;

  constructor() {
    mkdirSync(this.repository);
    this.git('init', '-q', '-b', 'main');
    this.git('config', 'user.name', 'Person');
    this.git('config', 'user.email', 'person@example.org');
    this.write('repository/a.txt', 'one\ntwo\nthree\n');
    this.write('repository/b.txt', 'b\n');
    this.git('add', '-A');
    this.git('commit', '-qm', 'first');
    execFileSync('git', ['clone', '-q', '--bare', this.repository, this.remote], { stdio: 'ignore' });
    this.git('remote', 'add', 'origin', this.remote);
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  git(...args: string[]): string {
    return this.gitIn(this.repository, ...args);
  }

  gitIn(folder: string, ...args: string[]): string {
    return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  /** In a workspace, a dev writes it: its result is what the files hold when it is delivered next. */
  write(file: string, text: string): void {
    this.#results.delete(file.replace(/^row-(\d+)\/.*/, 'id-$1'));
    mkdirSync(dirname(join(this.root, file)), { recursive: true });
    writeFileSync(join(this.root, file), text);
  }

  hook(file: string, script: string): void {
    this.write(file, `#!/bin/sh\n${script}\n`);
    chmodSync(join(this.root, file), 0o755);
  }

  /** The workspace of a row. Returns its folder. */
  async row(row: number, kind: WorkspaceRecord['kind'] = 'worktree'): Promise<string> {
    const folder = join(this.root, `row-${row}`);
    const branch = `nightshift/night/row-${row}`;
    const from = kind === 'clone' ? this.remote : this.repository;
    let base = this.git('rev-parse', 'main');
    if (kind === 'worktree') this.git('worktree', 'add', '-q', '-b', branch, folder, base);
    if (kind === 'clone') {
      this.gitIn(this.root, 'clone', '-q', '--no-hardlinks', this.remote, folder);
      this.gitIn(folder, 'checkout', '-q', '-b', branch);
    }
    const record = { id: `id-${row}`, row, slug: `row-${row}`, kind, folder, from, branch, madeAt: '' };
    if (kind === 'copy') {
      mkdirSync(folder);
      writeFileSync(join(folder, 'a.txt'), 'one\ntwo\nthree\n');
      const desk = this.deskOf({ ...record, base: undefined, state: 'ready' });
      const made = await Desk.open(plainGit, { folder: desk, workspace: folder, source: undefined, branch }, signal);
      base = await made.keep(await made.tree(undefined), { name: 'base', parent: undefined, message: 'Base' });
    }
    this.records.set(record.id, { ...record, base, state: 'ready' });
    return folder;
  }

  deskOf({ id }: WorkspaceRecord): string {
    return join(this.root, 'desks', id);
  }

  /** A process of its own: it knows only what is on disk. `crashAt`: where it ends. */
  deliveries(crashAt?: string): LocalDeliveries {
    const records: WorkspaceRecords = {
      all: async () => [...this.records.values()],
      read: async (id) => this.records.get(id),
      write: async (record) => void this.records.set(record.id, structuredClone(record)),
      remove: async (id) => void this.records.delete(id),
    };
    const parts: DeliveryParts = {
      git: this.#git,
      records,
      shift: 'night',
      openDesk: (record, signal) => this.#openDesk(record, signal),
      lock: async () => ({ [Symbol.dispose]: () => {} }),
      runProgram: this.#forge,
      patches: {
        folder: join(this.root, 'patches'),
        replace: async (file, bytes) => writeFileSync(file, bytes),
      },
      now: () => '2026-01-01T00:00:00.000Z',
      failpoint: (name) => {
        if (name === crashAt) throw new Crash(name);
      },
    };
    return new LocalDeliveries(parts);
  }

  deliver(row: number, kind: DeliveryKind, more: Partial<DeliveryRequest> & { crashAt?: string } = {}) {
    const { crashAt, ...asked } = more;
    return this.deliveries(crashAt).deliver({
      id: `id-${row}`,
      key: `key-${row}`,
      kind,
      isHeld: false,
      message: `Row ${row}`,
      title: `Title ${row}`,
      body: `Body ${row}`,
      check: async () => {
        this.checks++;
        const reason = await this.check();
        return reason === undefined ? undefined : { kind: 'failed', reason, failurePoint: 'criterion 1' };
      },
      signal,
      ...asked,
    });
  }

  async crash(row: number, kind: DeliveryKind, point: string): Promise<boolean> {
    try {
      await this.deliver(row, kind, { crashAt: point });
      return false;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      return true;
    }
  }

  /** What the files hold now is the result of the row. */
  async finishTask(row: number): Promise<void> {
    await this.#openDesk(this.records.get(`id-${row}`)!);
  }

  closePullRequest(number: number, state: 'MERGED' | 'CLOSED'): void {
    const found = this.pullRequests[number - 1]!;
    Object.assign(found, { state, commit: this.gitIn(this.remote, 'rev-parse', found.head) });
  }

  async #openDesk(record: WorkspaceRecord, until = signal) {
    const copies = join(this.root, 'copies');
    if (record.kind !== 'copy') this.source ??= await readSource(plainGit, this.repository, copies, signal);
    const source = record.kind === 'copy' ? undefined : this.source;
    const folder = this.deskOf(record);
    const options = { folder, workspace: record.folder, source, branch: record.branch };
    const desk = await Desk.open(this.#git, options, until);
    const { id, base } = record;
    const result = this.#results.get(id) ?? (existsSync(record.folder) ? await desk.tree(base) : undefined);
    if (result !== undefined) this.#results.set(id, result);
    return { desk, source, result: result === undefined ? undefined : { files: result, change: result } };
  }

  readonly #forge: RunProgram = async ({ file, args, input, env, cwd }) => {
    if (file !== 'gh') return runForReal(file, args, cwd, env);
    if (this.ghAnswer) return this.ghAnswer;
    const option = (name: string) => args[args.indexOf(name) + 1] ?? '';
    const exited = (stdout: string): ProgramResult => ({ kind: 'exited', code: 0, stdout, stderr: '' });
    const shown = ({ head, number, url, state, commit }: FakePullRequest) => ({
      ...{ number, url, state },
      headRefOid: commit ?? this.gitIn(this.remote, 'rev-parse', head),
    });
    if (args[1] === 'list') {
      return exited(JSON.stringify(this.pullRequests.filter(({ head }) => head === option('--head')).map(shown)));
    }
    if (args[1] === 'view') return exited(JSON.stringify(shown(this.pullRequests.find(({ url }) => url === args[2])!)));
    const number = this.pullRequests.length + 1;
    const url = `https://forge.example/pull/${number}`;
    const base = args.includes('--base') ? option('--base') : '';
    this.pullRequests.push({
      ...{ number, url, base, state: 'OPEN', body: input ?? '' },
      ...{ head: option('--head'), title: option('--title') },
    });
    return exited(`Creating pull request\n${url}\n`);
  };

  read(file: string): string {
    return readFileSync(join(this.root, file), 'utf8');
  }
}

function runForReal(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): ProgramResult {
  const ran = spawnSync(file, args, { cwd, env: { ...process.env, ...env }, encoding: 'utf8' });
  return { kind: 'exited', code: ran.status ?? 1, stdout: ran.stdout, stderr: ran.stderr };
}

export function valuesOf(result: DeliveryResult): Readonly<Record<string, string>> {
  if (result.kind !== 'delivered') throw new Error(JSON.stringify(result));
  return result.values;
}
