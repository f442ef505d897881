import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createOpencodeClient, type OpencodeClient } from '@opencode-ai/sdk/v2/client';
import { afterAll } from 'vitest';
import { NIGHTSHIFT } from '../harness.ts';
import { InsideModel } from './inside-model.ts';
import { programFolder, programVersion } from './programs.ts';

/** A call of a tool, and what came of it. */
export interface Called {
  readonly tool: string;
  readonly input: Record<string, string>;
  readonly status: string;
  readonly output: string;
  /** The answer of the model that it was part of. */
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

/** One model and one OpenCode for all tests of a file. */
export async function startInside(): Promise<{ model: InsideModel; server: InsideServer }> {
  const model = await InsideModel.start();
  const server = new InsideServer(model);
  afterAll(async () => {
    await server.stop();
    await model.stop();
  });
  await server.start();
  return { model, server };
}

/** A person's OpenCode: one server for all folders, with `nightshift` (and a program like qsv) on its PATH. */
export class InsideServer {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-home-')));
  /** The folder with `nightshift` and qsv. */
  readonly programs = join(this.home, 'bin');
  readonly #environment: Record<string, string>;
  #child: ChildProcess | undefined;
  #url = '';

  constructor(model: InsideModel) {
    const { programs } = this;
    writePrograms(programs);
    const configuration = join(this.home, '.config/opencode');
    spareInstall(configuration);
    writeFileSync(join(configuration, 'opencode.json'), JSON.stringify(configFor(model)));
    this.#environment = {
      HOME: this.home,
      XDG_CONFIG_HOME: join(this.home, '.config'),
      XDG_DATA_HOME: join(this.home, '.local/share'),
      XDG_STATE_HOME: join(this.home, '.local/state'),
      XDG_CACHE_HOME: join(this.home, '.cache'),
      PATH: `${programs}:${programFolder('opencode')}:${ripgrepFolder()}:${process.env.PATH}`,
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    };
  }

  async start(): Promise<void> {
    const child = spawn(
      join(programFolder('opencode'), 'opencode'),
      ['serve', '--hostname', '127.0.0.1', '--port', '0'],
      {
        cwd: this.home,
        env: { ...process.env, ...this.#environment },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      },
    );
    this.#child = child;
    this.#url = await new Promise((resolve, reject) => {
      let printed = '';
      const hear = (text: Buffer) => {
        printed += text;
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
        if (url !== undefined) resolve(url);
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.once('exit', () => reject(new Error(`opencode serve ended: ${printed}`)));
    });
  }

  /** With everything that it started, as when a terminal is closed. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    process.kill(-child.pid, 'SIGKILL');
    await gone;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** With what `nightshift init` has written there, if it has. */
  in(folder: string): Folder {
    const configuration = join(folder, '.opencode');
    if (existsSync(configuration)) spareInstall(configuration);
    return new Folder(createOpencodeClient({ baseUrl: this.#url, directory: folder }));
  }
}

/** The conversations in one folder. */
export class Folder {
  readonly client: OpencodeClient;

  constructor(client: OpencodeClient) {
    this.client = client;
  }

  /** The calls of one turn of this agent, in a new conversation. */
  async ask(agent: string, text: string): Promise<Called[]> {
    return await this.askIn(await this.session(), agent, text);
  }

  /** All calls of a conversation, after one more turn. */
  async askIn(sessionID: string, agent: string, text: string): Promise<Called[]> {
    await this.client.session.prompt({ sessionID, agent, parts: [{ type: 'text', text }] }, { throwOnError: true });
    return await this.calls(sessionID);
  }

  /** A slash command in a new conversation: its calls, and its last words. */
  async command(command: string, words: string): Promise<{ calls: Called[]; text: string; sessionID: string }> {
    const sessionID = await this.session();
    const { data } = await this.client.session.command(
      { sessionID, command, arguments: words },
      { throwOnError: true },
    );
    const text = data.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return { calls: await this.calls(sessionID), text, sessionID };
  }

  async calls(sessionID: string): Promise<Called[]> {
    const { data } = await this.client.session.messages({ sessionID }, { throwOnError: true });
    return data.flatMap(({ info, parts }) =>
      parts.flatMap((part) => {
        if (part.type !== 'tool') return [];
        const { state } = part;
        const time: { start: number; end?: number } = 'time' in state ? state.time : { start: 0 };
        return [
          {
            tool: part.tool,
            input: state.input as Record<string, string>,
            status: state.status,
            output: state.status === 'completed' ? state.output : state.status === 'error' ? state.error : '',
            message: info.id,
            start: time.start,
            end: time.end ?? 0,
          },
        ];
      }),
    );
  }

  /** The sessions that were started by Task calls of this one. */
  async children(sessionID: string): Promise<string[]> {
    const { data } = await this.client.session.children({ sessionID }, { throwOnError: true });
    return data.map(({ id }) => id);
  }

  async session(): Promise<string> {
    const { data } = await this.client.session.create({}, { throwOnError: true });
    return data.id;
  }
}

/**
 * Before OpenCode loads the plugins of a folder, it installs `@opencode-ai/plugin` there, 60 MB that no plugin of
 * Nightshift imports. It leaves out what the lock file says is there.
 */
function spareInstall(folder: string): void {
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  const lock = { packages: { '': { dependencies: { '@opencode-ai/plugin': programVersion('opencode') } } } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
}

/** Searching needs ripgrep, which OpenCode would download; Codex brings it along. */
function ripgrepFolder(): string {
  const packages = join(programFolder('codex'), '..', '@openai');
  const found = readdirSync(packages, { recursive: true, encoding: 'utf8' }).find((file) => basename(file) === 'rg');
  return found === undefined ? packages : dirname(join(packages, found));
}

/** `nightshift`, and a program like qsv. */
export function writePrograms(folder: string): void {
  mkdirSync(folder, { recursive: true });
  script(join(folder, 'nightshift'), `exec '${process.execPath}' '${NIGHTSHIFT}' "$@"`);
  // It reads, it writes with -o, and it runs other programs: what matters of qsv here.
  script(
    join(folder, 'qsv'),
    'verb=$1; for word do case $next in -o|--output) echo out > "$word";; esac; next=$word; done\n[ "$verb" = foreach ] && exec touch foreach-ran\necho "qsv $*"',
  );
}

function script(file: string, text: string): void {
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
}

function configFor(model: InsideModel): object {
  return {
    provider: {
      loopback: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${model.url}/v1`, apiKey: 'none' },
        models: { scripted: { limit: { context: 200_000, output: 8000 } } },
      },
    },
    model: 'loopback/scripted',
    small_model: 'loopback/scripted',
    enabled_providers: ['loopback'],
    autoupdate: false,
  };
}
