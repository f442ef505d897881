import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Ended, Project, type RunningProcess, type ShiftHandle, task } from '../harness.ts';
import { cell, type Model, type Script } from './model.ts';
import { type ProgramName, programFolder } from './programs.ts';

type ToolStep = { readonly tool: string; readonly input: object };

/** What the contract has to know of an agent program. */
export interface AgentUnderTest {
  /** As in `agent: NAME`. */
  readonly name: string;
  /** The program that it runs. */
  readonly program: ProgramName;
  /** More lines for a task's Configuration; `model:` belongs here. */
  readonly configuration: readonly string[];
  /** Writes the files of a user who has the model, and the MCP servers, in the program's own configuration; the variables that user has. */
  prepare(user: User): Record<string, string>;
  /** Calls of its tools as a model makes them. Paths may be relative to the working folder. */
  readonly tools: {
    read(path: string): ToolStep;
    write(path: string, text: string): ToolStep;
    bash(command: string): ToolStep;
  };
  /** The names of its tools that run commands, and of those that write. */
  readonly shells: readonly string[];
  readonly writing: readonly string[];
  /** Tools that can't be taken away from a manager, but do nothing there. */
  readonly harmless?: readonly string[];
  /** How the tool `mark` of an MCP server is called. */
  mcpTool(server: string): string;
  /** Whether what is not allowed is not even offered to the model. */
  readonly hidesTools: boolean;
  /** Whether MCP servers may stand in the program's own configuration; if not, only in `.mcp.json`. Default: yes. */
  readonly hasOwnServers?: boolean;
  /** Whether it tells the tokens of each step, and not only of the last. Default: yes. */
  readonly tellsAllTokens?: boolean;
  /** Whether it gives up asking a provider that refuses, and says so. Default: yes. */
  readonly tellsTrouble?: boolean;
  /** Whether it has a shell also where `bash` is not named, but one that can't leave the working folder. */
  readonly hasLockedShell?: boolean;
  /** Whether its shell has the variables of the item. */
  readonly hasEnvironment: boolean;
  /** US dollars for tokens of input and output, where the program reports a cost. */
  readonly costOf?: (input: number, output: number) => number;
}

export interface User {
  /** HOME; nothing else of this machine's user is seen. */
  readonly home: Project;
  readonly model: Model;
  /** The MCP servers of the program's own configuration. */
  readonly servers: Readonly<Record<string, Server>>;
}

export interface Server {
  readonly command: string;
  readonly args: readonly string[];
}

export interface CaseOptions {
  /** Names of MCP servers in the program's own configuration, and in `.mcp.json` of the project. */
  readonly servers?: readonly string[];
  readonly projectServers?: readonly string[];
  /** The text of the shift's `.env`. */
  readonly env?: string;
}

interface ShiftOptions {
  readonly settings?: Record<string, string | number | boolean>;
  readonly configuration?: string;
  readonly validation?: string;
  /** Instead of the one task `work`. */
  readonly tasks?: Record<string, string>;
}

/** One project of one user of the program. */
export class Case {
  readonly project = new Project();
  /** Not inside the project, where what the program notes for itself would be a change. */
  readonly home = new Project();
  readonly environment: Record<string, string>;
  readonly #agent: AgentUnderTest;
  readonly #options: CaseOptions;

  constructor(agent: AgentUnderTest, model: Model, options: CaseOptions) {
    this.#agent = agent;
    this.#options = options;
    const { home } = this;
    const servers = this.#servers(options.servers ?? []);
    const own = agent.prepare({ home, model, servers });
    const xdg = {
      XDG_CONFIG_HOME: '.config',
      XDG_DATA_HOME: '.local/share',
      XDG_STATE_HOME: '.local/state',
      XDG_CACHE_HOME: '.cache',
    };
    this.environment = {
      ...Object.fromEntries(Object.entries(xdg).map(([name, folder]) => [name, home.path(folder)])),
      HOME: home.root,
      // With an older bubblewrap, Codex needs its home outside of the folder for temporary files.
      TMPDIR: home.path('tmp'),
      PATH: `${programFolder(agent.program)}:${process.env.PATH}`,
      ...own,
    };
    mkdirSync(this.environment.TMPDIR!);
    if (options.projectServers) {
      this.project.write('.mcp.json', JSON.stringify({ mcpServers: this.#servers(options.projectServers) }));
    }
  }

  /** Model and journal serve many tests: a name that only this one has. */
  readonly unique = (name: string): string => `${name}-${(counter++).toString(36)}`;

  /** A key that `more` has is not the agent's own. */
  configuration(more = ''): string {
    const own = [`agent: ${this.#agent.name}`, ...this.#agent.configuration].map((line) => `- ${line}`);
    return [...own.filter((line) => !more.includes(line.slice(0, line.indexOf(':') + 1))), more].join('\n');
  }

  taskText(validation: string, more = ''): string {
    return task({ configuration: this.configuration(more), steps: '1. Write {name}.txt', validation });
  }

  /** The shift `night` with the task `work`: a row for each script. */
  shift(scripts: readonly Script[], options: ShiftOptions = {}): ShiftHandle {
    const { settings = {}, configuration, validation = '- {name}.txt is there', tasks } = options;
    const columns = tasks === undefined ? ['work'] : Object.keys(tasks);
    const rows = scripts.map((script) => [script.name, cell(script), ...columns.map(() => 'todo')].join(','));
    return this.project.shift('night', {
      settings: { ...settings },
      table: `${['name', 'script', ...columns].join(',')}\n${rows.join('\n')}\n`,
      tasks: tasks ?? { work: this.taskText(validation, configuration) },
      ...(this.#options.env === undefined ? {} : { env: this.#options.env }),
    });
  }

  start(shift: ShiftHandle, args: readonly string[] = []): Promise<Ended> {
    return this.spawn(shift, args).ended;
  }

  spawn(shift: ShiftHandle, args: readonly string[] = []): RunningProcess {
    return shift.spawn(args, { env: this.environment });
  }

  /** The entries of all transcripts of a role, in the order of the files. */
  transcript(shift: ShiftHandle, role: string): Entry[] {
    const folder = this.project.path(shift.folder, '.engine');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /transcripts\/.*\.jsonl$/.test(file),
    );
    const lines = files.sort().flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'));
    return lines.map((line) => JSON.parse(line) as Entry & { role: string }).filter((line) => line.role === role);
  }

  #servers(names: readonly string[]): Record<string, Server> {
    const args = (name: string) => [resolve('test/fixtures/mcp-server.mjs'), name, this.project.path('marks')];
    return Object.fromEntries(names.map((name) => [name, { command: process.execPath, args: args(name) }]));
  }
}

interface Entry {
  readonly kind: string;
  readonly text?: string;
  readonly tool?: string;
  readonly mayWrite?: boolean;
}

let counter = 0;

export function caseFor(agent: AgentUnderTest, model: Model, options: CaseOptions = {}): Case {
  return new Case(agent, model, options);
}

/** What the MCP servers were asked to mark. */
export function marksOf(project: Project): string[] {
  const file = project.path('marks');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** Its command line; empty when it is gone. */
export function commandOf(pid: number): string {
  return readProcess(pid, 'cmdline').replaceAll('\0', ' ');
}

/** Its working folder; empty when it is gone. */
export function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

export function groupOf(pid: number): number {
  return Number(readProcess(pid, 'stat').split(') ')[1]?.split(' ')[2]);
}

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
