import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { DeliveryKind } from '../../src/core/workspace/plan.ts';
import type { DeliveryRequest, WorkspaceRequest } from '../../src/core/workspace/workspaces.ts';
import { LocalDeliveries } from '../../src/workspace/delivery/deliveries.ts';
import type { Git, GitCall } from '../../src/workspace/git.ts';
import { LocalWorkspaces, type WorkspacesOptions } from '../../src/workspace/local-workspaces.ts';
import { MemoryRecords } from '../../src/workspace/memory-records.ts';
import { realGit } from './real-git.ts';

/** A temporary folder with a project that is a repository, and the workspaces of a shift in it. */
export class WorkspaceSite {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-workspaces-')));
  readonly project = join(this.root, 'project');
  readonly workspaces = join(this.root, 'workspaces');
  /** What git was asked. */
  readonly calls: GitCall[] = [];
  readonly git: Git = {
    run: (call) => {
      this.calls.push(call);
      return realGit.run(call);
    },
  };
  readonly folders: WorkspacesOptions['folders'] = {
    root: this.project,
    workspaces: this.workspaces,
    mirrors: join(this.root, 'mirrors'),
    sources: join(this.root, 'engine', 'sources'),
    desk: (id) => join(this.root, 'engine', 'desks', id),
  };
  readonly records = new MemoryRecords();
  readonly warnings: string[] = [];
  #locked: Promise<void> = Promise.resolve();
  now = Date.parse('2030-01-01T00:00:00Z');

  constructor() {
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
    mkdirSync(this.project);
  }

  /** Runs git in a folder of the site, for the person or an agent. */
  run(folder: string, ...args: string[]): string {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'protocol.file.allow=always'];
    return execFileSync('git', [...who, ...args], { cwd: join(this.root, folder), env, encoding: 'utf8' }).trimEnd();
  }

  write(file: string, text: string, mode?: number): void {
    mkdirSync(dirname(join(this.root, file)), { recursive: true });
    writeFileSync(join(this.root, file), text);
    if (mode !== undefined) chmodSync(join(this.root, file), mode);
  }

  /** A repository with files, in one commit. Returns that commit. */
  repository(files: Readonly<Record<string, string>>, folder = 'project', ...init: string[]): string {
    mkdirSync(join(this.root, folder), { recursive: true });
    this.run(folder, 'init', '-q', '-b', 'main', ...init);
    for (const [file, text] of Object.entries(files)) this.write(`${folder}/${file}`, text);
    return this.commit(folder);
  }

  commit(folder = 'project'): string {
    this.run(folder, 'add', '-A');
    this.run(folder, 'commit', '-qm', 'Files');
    return this.run(folder, 'rev-parse', 'HEAD');
  }

  /** A new process: everything that is only in memory is gone. */
  open(options: Partial<WorkspacesOptions> = {}): LocalWorkspaces {
    return new LocalWorkspaces({
      git: this.git,
      records: this.records,
      shift: 'upgrade',
      folders: this.folders,
      lock: () => this.#lock(),
      now: () => this.now++,
      failpoint: () => {},
      warn: (message) => this.warnings.push(message),
      ...options,
    });
  }

  deliveries(workspaces: LocalWorkspaces): LocalDeliveries {
    return new LocalDeliveries({
      git: this.git,
      records: this.records,
      shift: 'upgrade',
      openDesk: (record, signal) => workspaces.openDesk(record, signal),
      lock: async () => ({ [Symbol.dispose]: () => {} }),
      runProgram: async () => ({ kind: 'missing' }),
      patches: { folder: join(this.root, 'patches'), replace: async (file, bytes) => writeFileSync(file, bytes) },
      now: () => new Date(this.now++).toISOString(),
      failpoint: () => {},
    });
  }

  delivery(id: string, kind: DeliveryKind): DeliveryRequest {
    return {
      ...{ id, key: `key of ${id}`, kind, isHeld: false, author: 'Ada <ada@example.org>' },
      ...{ message: `Row ${id}`, title: '', body: '', check: async () => undefined },
      signal: new AbortController().signal,
    };
  }

  /** One holder at a time. */
  async #lock(): Promise<Disposable> {
    const before = this.#locked;
    let release = () => {};
    this.#locked = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    return { [Symbol.dispose]: () => release() };
  }

  request(changes: Partial<WorkspaceRequest> = {}): WorkspaceRequest {
    return {
      role: 'dev',
      isContinued: false,
      task: 'first',
      item: { id: '3f9a2c77e0.0', row: 3, label: 'Größe.ts' },
      kind: 'worktree',
      workingDir: this.project,
      include: [],
      signal: new AbortController().signal,
      ...changes,
    };
  }
}
