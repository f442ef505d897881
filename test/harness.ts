import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'csv-parse/sync';
import { inject, onTestFinished } from 'vitest';
import { RunningHere, runsHere } from './in-process.ts';
import { type Ended, jsonLines, type Running, RunningProcess } from './running.ts';

export { type Ended, Running, RunningProcess, sleep, until } from './running.ts';

/** The program that users run. */
export const NIGHTSHIFT = resolve('dist/cli/main.js');
/** An agent program for `agent: command` that does what `behaviour.json` in its folder says; see agent-host.ts. */
export const AGENT = `sh ${resolve('test/fixtures/agent.sh')} ${inject('agentRequests')}`;

/** Not where agents work: a qa changes nothing there. Tests put what they tell an agent meanwhile beside it. */
export const CALLS = '.nightshift/calls.jsonl';

export interface RunOptions {
  /** What `ulimit` is told first, such as `-n 96`. */
  ulimit?: string;
  /** Another user; only root may ask for one. */
  uid?: number;
  env?: Record<string, string>;
  cwd?: string;
  /** In this process, on a terminal; see in-process.ts. */
  onTerminal?: boolean;
  /** In this process, with a person who answers questions. */
  answers?: readonly string[];
  /** In this process, with this piped into it. */
  input?: string;
}

/** A project in a temporary folder that is gone after the test, with everything that still runs in it. */
export class Project {
  readonly root: string;
  readonly #running = new Set<ChildProcess>();

  constructor(root = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-test-')))) {
    this.root = root;
    onTestFinished(() => {
      for (const child of this.#running) child.kill('SIGKILL');
      removeAll(root);
    });
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  write(file: string, text: string | Buffer): void {
    mkdirSync(dirname(this.path(file)), { recursive: true });
    writeFileSync(this.path(file), text);
  }

  read(file: string): string {
    return readFileSync(this.path(file), 'utf8');
  }

  exists(file: string): boolean {
    return existsSync(this.path(file));
  }

  /** Writes the files of a shift as a person would. Status columns must be in the table. */
  shift(
    name: string,
    parts: {
      settings?: Record<string, string | number | boolean>;
      table: string;
      tasks: Record<string, string>;
      env?: string;
    },
  ): ShiftHandle {
    const folder = `.nightshift/${name}`;
    const settings = { name, created: '2026-01-02', ...parts.settings };
    const lines = Object.entries(settings).map(([key, value]) => `- ${key}: ${value}`);
    const order = Object.keys(parts.tasks).map((task, i) => `${i + 1}. ${task}`);
    this.write(
      `${folder}/manager.md`,
      `# ${name}\n\n## Shift Configuration\n\n${lines.join('\n')}\n\n## Task Order\n\n${order.join('\n')}\n\n## Progress\n\n- Total items: 0\n- Completed: 0\n- Failed: 0\n- Remaining: 0\n`,
    );
    this.write(`${folder}/table.csv`, parts.table);
    for (const [task, text] of Object.entries(parts.tasks)) this.write(`${folder}/${task}.md`, text);
    if (parts.env !== undefined) this.write(`${folder}/.env`, parts.env);
    return new ShiftHandle(this, name);
  }

  /** What the agent fixture does, by `role:name:attempt`, `role:name`, `role` or `*`. */
  behave(behaviour: Record<string, object>): void {
    this.write('behaviour.json', JSON.stringify(behaviour));
  }

  /** Every call of the agent fixture, in order. */
  // biome-ignore lint/suspicious/noExplicitAny: as the fixture wrote them
  calls(): any[] {
    if (!this.exists(CALLS)) return [];
    // The last piece is empty, or a line that is just being written.
    return this.read(CALLS)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  /** In a process of its own. Only for what is killed or gets a signal, or is asked for on a terminal. */
  spawn(args: readonly string[], options: RunOptions = {}): RunningProcess {
    const program = [process.execPath, NIGHTSHIFT, ...args] as const;
    const [file, ...rest] =
      options.ulimit === undefined
        ? program
        : (['/bin/sh', '-c', `ulimit ${options.ulimit}; exec "$@"`, 'sh', ...program] as const);
    const child = spawn(file, rest, {
      cwd: options.cwd ?? this.root,
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    return new RunningProcess(child);
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return this.launch(args, options).ended;
  }

  /** In this process where that can be: a new one takes 0.3 seconds of a core to start. */
  launch(args: readonly string[], options: RunOptions = {}): Running {
    const { ulimit, uid, cwd = this.root, env = {}, onTerminal = false, answers, input } = options;
    const isHere = ulimit === undefined && uid === undefined && runsHere(args, env);
    return isHere ? new RunningHere(args, { cwd, env, onTerminal, answers, input }) : this.spawn(args, options);
  }
}

/** A run in the background that has released its lock may still be writing its report. */
function removeAll(folder: string): void {
  for (let tries = 100; ; tries--) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (tries === 0 || (error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
}

/** An environment in which `nightshift` is on the PATH. */
export function onPath(project: Project): Record<string, string> {
  project.write('bin/nightshift', '#!/bin/sh\nexit 1\n');
  chmodSync(project.path('bin/nightshift'), 0o755);
  return { PATH: `${project.path('bin')}:${process.env.PATH}` };
}

export class ShiftHandle {
  readonly project: Project;
  readonly name: string;
  readonly folder: string;

  constructor(project: Project, name: string) {
    this.project = project;
    this.name = name;
    this.folder = `.nightshift/${name}`;
  }

  start(args: readonly string[] = [], options: RunOptions = {}): Promise<Ended> {
    return this.launch(args, options).ended;
  }

  /** `start`, without waiting for its end. */
  launch(args: readonly string[] = [], options: RunOptions = {}): Running {
    return this.project.launch(['start', this.name, '--json', ...args], options);
  }

  spawn(args: readonly string[] = [], options: RunOptions = {}): RunningProcess {
    return this.project.spawn(['start', this.name, '--json', ...args], options);
  }

  get tableText(): string {
    return this.project.read(`${this.folder}/table.csv`);
  }

  set tableText(text: string) {
    this.project.write(`${this.folder}/table.csv`, text);
  }

  get manager(): string {
    return this.project.read(`${this.folder}/manager.md`);
  }

  set manager(text: string) {
    this.project.write(`${this.folder}/manager.md`, text);
  }

  task(name: string): string {
    return this.project.read(`${this.folder}/${name}.md`);
  }

  /** As a person does while the shift runs: a task, `manager` or `env`, in an editor. */
  async edit(document: string, change: (text: string) => string): Promise<Ended> {
    const file = { manager: 'manager.md', env: '.env' }[document] ?? `${document}.md`;
    const before = this.project.exists(`${this.folder}/${file}`) ? this.project.read(`${this.folder}/${file}`) : '';
    this.project.write('.nightshift/edited', change(before));
    const EDITOR = `cp ${this.project.path('.nightshift/edited')}`;
    return this.project.run(['edit', this.name, document], { env: { EDITOR, VISUAL: '' } });
  }

  /** The table's rows, read by another program's parser. */
  rows(): Record<string, string>[] {
    return parse(this.tableText, { columns: true, bom: true });
  }

  column(name: string): string[] {
    return this.rows().map((row) => row[name] ?? '');
  }

  // biome-ignore lint/suspicious/noExplicitAny: events of every kind
  journal(): any[] {
    return jsonLines(this.project.read(`${this.folder}/.engine/journal.jsonl`));
  }
}

/** A task file from its parts. */
export function task(parts: { configuration?: string; steps: string; validation: string }): string {
  return `## Configuration\n\n${parts.configuration ?? ''}\n\n## Steps\n\n${parts.steps}\n\n## Validation\n\n${parts.validation}\n`;
}

/** A task for the agent `shell`: one step and one check. */
export function shellTask(step: string, check = 'true', configuration = ''): string {
  const block = (code: string) => `\n\n   \`\`\`sh\n${code.replace(/^/gm, '   ')}\n   \`\`\``;
  return task({ configuration, steps: `1. Do it${block(step)}`, validation: `- It is done${block(check)}` });
}

/** A task for the agent fixture: prose only, so that dev and qa are both asked. */
export function agentTask(steps = '1. Do {name}', validation = '- {name} is done', configuration = ''): string {
  return task({ configuration: `- agent: command\n- command: ${AGENT}\n${configuration}`, steps, validation });
}

/** The process of a run in the background, by what `--detach` printed. It does not outlive the test. */
export function processIn({ stdout }: Ended): number {
  const pid = Number(/process (\d+) since/.exec(stdout)![1]);
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  return pid;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // One that nobody has waited for is dead too, as soon as its last thread has ended and let go of its locks.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) || readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    return false;
  }
}

/** Processes that carry the mark of a shift's folder: its agents and all that they started. */
export function processesOf(folder: string): number[] {
  const pids: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const marked = readFileSync(`/proc/${name}/environ`, 'utf8').includes(`NIGHTSHIFT_SHIFT_DIR=${folder}\0`);
      const state = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.[0];
      if (marked && state !== 'Z') pids.push(Number(name));
    } catch {}
  }
  return pids;
}

/** Of these, the ones with STRAY=1: test agents set it for what leaves its group, so that only the mark can find it. */
export function straysOf(folder: string): number[] {
  return processesOf(folder).filter((pid) => {
    try {
      return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`.includes('\0STRAY=1\0');
    } catch {
      return false;
    }
  });
}
