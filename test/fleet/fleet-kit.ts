import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { newSigningKey, signerFrom } from '../../src/fleet/signature.ts';
import { isAlive, NIGHTSHIFT, Project, type ShiftHandle, until } from '../harness.ts';
import type { TestPostgres } from '../kit/postgres.ts';

/** pg-boss allows no shorter lease. */
export const LEASE_MS = 10_000;

/** For a coordinator whose workers may stand still for as long as a test takes. */
export const LONG_LEASE = { NIGHTSHIFT_FLEET_LEASE: '60s' };

export interface FleetParts {
  readonly postgres: Pick<TestPostgres, 'url'>;
  /** The header and rows of the table. Status columns must be in it. */
  readonly table: string;
  /** Task files by name. Agents may append to the witness, a file outside of the shift. */
  readonly tasks: (witness: string) => Record<string, string>;
  /** More of the manifest. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
  readonly env?: string;
}

export interface ProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Another address of the database, such as that of a proxy. */
  readonly url?: string;
}

export interface WorkerOptions extends ProcessOptions {
  readonly slots?: number;
}

/**
 * A project with one shift, its coordinator and its workers, as real processes on one machine. Each has a state folder of
 * its own, as on machines of their own. Everything ends with the test.
 */
export class FleetSite {
  readonly project: Project;
  readonly shift: ShiftHandle;
  readonly url: string;
  /** What workers get as `--key`. */
  readonly key: string;
  /** Of the coordinator (NIGHTSHIFT_FLEET_SIGNING_KEY). */
  readonly signingKey = newSigningKey();
  readonly #children = new Set<ChildProcess>();

  constructor({ postgres, table, tasks, settings = {}, env }: FleetParts) {
    this.project = new Project();
    onTestFinished(() => {
      for (const child of this.#children) child.kill('SIGKILL');
    });
    this.url = postgres.url;
    this.key = signerFrom(this.signingKey).publicKey;
    this.shift = this.project.shift('fleet', {
      settings: { parallel: true, dispatch: 'stream', ...settings },
      table,
      tasks: tasks(this.witness),
      ...(env === undefined ? {} : { env }),
    });
  }

  get witness(): string {
    return this.project.path('witness.log');
  }

  /** From now on, agents whose task says so wait, until they are released. */
  hold(): void {
    writeFileSync(holdOf(this.witness), '');
  }

  release(): void {
    rmSync(holdOf(this.witness), { force: true });
  }

  /** `nightshift start SHIFT --fleet URL`. */
  coordinator({ env = {}, args = [], url = this.url }: ProcessOptions = {}): FleetProcess {
    return this.#spawn('coordinator', ['start', this.shift.name, '--json', '--fleet', url, ...args], {
      NIGHTSHIFT_FLEET_SIGNING_KEY: this.signingKey,
      ...env,
    });
  }

  /** `nightshift worker --url URL`. */
  worker(name: string, { env = {}, args = [], url = this.url, slots = 8 }: WorkerOptions = {}): FleetProcess {
    const own = ['--key', this.key, '--name', name, '--slots', String(slots), '--json'];
    return this.#spawn(name, ['worker', '--url', url, ...own, ...args], { ...env });
  }

  /** Another command, such as `fleet status`. */
  command(args: readonly string[], env: Readonly<Record<string, string>> = {}): FleetProcess {
    return this.#spawn('command', args, { NIGHTSHIFT_FLEET_URL: this.url, ...env });
  }

  #spawn(machine: string, args: readonly string[], env: Readonly<Record<string, string>>): FleetProcess {
    const state = this.project.path('machines', machine);
    const isCoordinator = machine === 'coordinator' || machine === 'command';
    const cwd = isCoordinator ? this.project.root : state;
    mkdirSync(state, { recursive: true });
    const log = this.project.path('machines', `${machine}.log`);
    // A file: nobody has to read it while the process is stopped, and it is there after a kill.
    const output = openSync(log, 'a');
    const child = spawn(process.execPath, [NIGHTSHIFT, ...args], {
      cwd,
      env: { ...process.env, NIGHTSHIFT_FLEET_LEASE: `${LEASE_MS / 1000}s`, XDG_STATE_HOME: state, ...env },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return new FleetProcess(child, log);
  }

  // biome-ignore lint/suspicious/noExplicitAny: events of every kind
  journal(): any[] {
    return existsSync(this.project.path(this.shift.folder, '.engine/journal.jsonl')) ? this.shift.journal() : [];
  }

  /** Waits until the status column of a task has only these. */
  async untilAll(task: string, statuses: readonly string[], milliseconds: number): Promise<void> {
    const left = () => this.shift.column(task).filter((status) => !statuses.includes(status)).length;
    await until(
      () => left() === 0,
      () => `${left()} items of ${task} to be ${statuses.join(' or ')}`,
      milliseconds,
    );
  }
}

/** A coordinator, a worker or another command of nightshift. */
export class FleetProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly #log: string;

  constructor(child: ChildProcess, log: string) {
    this.child = child;
    this.#log = log;
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && isAlive(this.pid);
  }

  /** What this machine has printed, also by processes before. */
  get log(): string {
    return readFileSync(this.#log, 'utf8');
  }

  /** Resolves when it is dead. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal);
    await this.ended;
  }

  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.child.kill('SIGCONT');
  }

  /** Waits until it, or a process before it on this machine, has printed this. */
  async printed(text: string, milliseconds?: number): Promise<void> {
    await until(
      () => this.log.includes(text),
      () => `${text}\n${this.log.slice(-2000)}`,
      milliseconds,
    );
  }
}

/** While this file is there, agents wait. */
export function holdOf(witness: string): string {
  return `${witness}.hold`;
}

/** A table with a name, one status column for each task, and one column for each output. */
export function tableOf(rows: number, tasks: readonly string[], outputs: readonly string[] = []): string {
  const header = ['name', ...tasks, ...outputs].join(',');
  const cells = [...tasks.map(() => 'todo'), ...outputs.map(() => '')];
  return `${header}\n${Array.from({ length: rows }, (_, i) => [`item-${i + 1}`, ...cells].join(',')).join('\n')}\n`;
}
