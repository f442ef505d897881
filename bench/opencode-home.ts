import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cell, Model, type Step } from '../test/agents/model.ts';
import { installProgram, programFolder } from '../test/agents/programs.ts';
import type { Figure } from './figure.ts';
import { Project, TASK } from './project.ts';

const FOUR_AT_ONCE = { parallel: true, 'current-batch-size': 4, 'max-batch-size': 4, dispatch: 'stream' };

/** With the program installed, and a scripted model. */
export async function withModel(measure: (model: Model) => Promise<Figure[]>): Promise<Figure[]> {
  installProgram('opencode');
  const model = await Model.start();
  try {
    return await measure(model);
  } finally {
    await model.stop();
  }
}

/** A user of OpenCode who has the scripted model and an MCP server `alpha`. */
export class Home extends Project {
  readonly environment: Record<string, string>;

  constructor(model: Model) {
    super({ settings: {}, table: '', step: '' });
    const provider = {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${model.url}/v1`, apiKey: 'none' },
      models: { scripted: { limit: { context: 200_000, output: 8000 } } },
    };
    const command = [process.execPath, join(process.cwd(), 'test/fixtures/mcp-server.mjs'), 'alpha', '/dev/null'];
    const config = {
      provider: { loopback: provider },
      model: 'loopback/scripted',
      small_model: 'loopback/scripted',
      enabled_providers: ['loopback'],
      permission: 'allow',
      mcp: { alpha: { type: 'local', command, enabled: false } },
    };
    const folder = join(this.root, '.config', 'opencode');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'opencode.json'), JSON.stringify(config));
    const xdg = { CONFIG_HOME: '.config', DATA_HOME: '.local/share', STATE_HOME: '.local/state', CACHE_HOME: '.cache' };
    this.environment = {
      ...Object.fromEntries(Object.entries(xdg).map(([name, path]) => [`XDG_${name}`, join(this.root, path)])),
      HOME: this.root,
      PATH: `${programFolder('opencode')}:${process.env.PATH}`,
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    };
  }

  /** `opencode serve`, as soon as it listens. */
  async serve(cwd: string): Promise<{ url: string } & Disposable> {
    const file = join(programFolder('opencode'), 'opencode');
    const env = { ...process.env, ...this.environment };
    const server = spawn(file, ['serve', '--port', '0'], { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
    let printed = '';
    for await (const text of server.stdout) {
      printed += text;
      const url = /listening on (\S+)/.exec(printed)?.[1];
      if (url !== undefined) return { url, [Symbol.dispose]: () => void server.kill('SIGKILL') };
    }
    throw new Error(`opencode serve ended: ${printed}`);
  }

  /** How long its server takes until it has loaded a folder and knows its models; it listens before, and loads when it is asked. */
  async serverStart(): Promise<number> {
    const started = performance.now();
    using server = await this.serve(this.root);
    await (await fetch(`${server.url}/config/providers?directory=${encodeURIComponent(this.root)}`)).text();
    return performance.now() - started;
  }
}

export function shiftOf(items: number, dev: (name: string) => Step[], configuration = ''): Project {
  const names = Array.from({ length: items }, (_, i) => `item-${i}`);
  const rows = names.map((name) => `${name},${cell({ name, dev: dev(name) })},todo`);
  const project = new Project({
    settings: FOUR_AT_ONCE,
    table: `name,script,${TASK}\n${rows.join('\n')}\n`,
    step: 'true',
  });
  const check = '- it is written\n\n  ```sh\n  test -f {name}.txt\n  ```';
  const task = `## Configuration\n\n- agent: opencode\n- model: loopback/scripted\n${configuration}\n\n## Steps\n\n1. Write {name}.txt\n\n## Validation\n\n${check}\n`;
  writeFileSync(join(project.folder, `${TASK}.md`), task);
  for (const name of names) mkdirSync(join(project.root, name));
  return project;
}

export const writes = (name: string): Step => ({ tool: 'write', input: { filePath: `${name}.txt`, content: 'x' } });
