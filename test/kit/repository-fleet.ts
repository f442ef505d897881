import { readdirSync } from 'node:fs';
import { newSigningKey, signerFrom } from '../../src/fleet/signature.ts';
import type { RunningProcess } from '../harness.ts';
import { RepositoryProject } from './repository-project.ts';

const LEASE = '10s';

/** A project with a repository and its remote, a coordinator, and workers that have nothing but the remote in common. */
export class RepositoryFleet extends RepositoryProject {
  readonly #url: string;
  readonly #signingKey = newSigningKey();
  /** The environment of each worker is that of another machine. */
  readonly #machines = new Map<string, Record<string, string>>();

  constructor(url: string, files?: Readonly<Record<string, string>>) {
    super(files);
    this.#url = url;
  }

  coordinator(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): RunningProcess {
    const own = { NIGHTSHIFT_FLEET_SIGNING_KEY: this.#signingKey, NIGHTSHIFT_FLEET_LEASE: LEASE };
    const command = ['start', 'night', '--json', '--fleet', this.#url, ...args];
    return this.spawn(command, { env: { ...this.env, ...own, ...env } });
  }

  worker(name: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): RunningProcess {
    const key = signerFrom(this.#signingKey).publicKey;
    const machine = { ...this.#machineOf(name), ...env };
    this.#machines.set(name, machine);
    const command = ['worker', '--url', this.#url, '--key', key, '--name', name, '--slots', '4', ...args];
    return this.spawn(command, { env: machine, cwd: this.path('.') });
  }

  #machineOf(name: string): Record<string, string> {
    const { HOME: _, ...env } = this.env;
    return {
      ...env,
      HOME: this.path('machines', name),
      XDG_STATE_HOME: this.path('machines', name, 'state'),
      XDG_CACHE_HOME: this.path('machines', name, 'cache'),
    };
  }

  /** What `fleet status` says about a worker. */
  async problemsOf(worker: string): Promise<string[]> {
    const { stdout } = await this.run(['fleet', 'status', '--json', '--url', this.#url], { env: this.env });
    const { workers } = JSON.parse(stdout) as { workers: { name: string; problems: string[] }[] };
    return workers.find(({ name }) => name === worker)?.problems ?? [];
  }

  /** What is left in the state folders of workers. */
  leftOnWorkers(): string[] {
    return [...this.#machines.keys()].flatMap((name) => {
      const folder = this.path('machines', name, 'state/nightshift/fleet');
      return filesBelow(folder);
    });
  }

  /** Refs of shifts on the remote. */
  relayRefs(): string[] {
    return this.git('remote.git', 'for-each-ref', '--format=%(refname)', 'refs/nightshift').split('\n').filter(Boolean);
  }
}

/** Those that are being removed may be missing. */
function filesBelow(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? [path, ...filesBelow(path)] : [path];
    });
  } catch {
    return [];
  }
}
