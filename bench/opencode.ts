import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cell, Model, type Step, SUCCESS } from '../test/agents/model.ts';
import { installProgram, programFolder } from '../test/agents/programs.ts';
import { atMost, type Figure, type Section } from './figure.ts';
import { megabytes, ms, NIGHTSHIFT, node, run, timed } from './measure.ts';
import { Project, SHIFT, TASK } from './project.ts';

const FOUR_AT_ONCE = { parallel: true, 'current-batch-size': 4, 'max-batch-size': 4 };
const SPEED_ITEMS = 20;
const ANSWER_MS = 1000;
/** What OpenCode takes to begin and end a session weighs less when there is more to do in it. */
const FEW_ANSWERS = 2;
const MANY_ANSWERS = 10;
const MEMORY_ITEMS = 200;
const EARLY = 20;

/** A shift with OpenCode and a scripted model: how much time is lost between the model's answers. */
export function opencode(): Promise<Section> {
  return section('OpenCode', speed);
}

/** What its server weighs; takes minutes. */
export function opencodeMemory(): Promise<Section> {
  return section('The memory of OpenCode', memory);
}

async function section(title: string, measure: (model: Model) => Promise<Section['figures']>): Promise<Section> {
  installProgram('opencode');
  const model = await Model.start();
  try {
    return { title, figures: await measure(model) };
  } finally {
    await model.stop();
  }
}

async function speed(model: Model): Promise<Section['figures']> {
  using home = new Home(model);
  const start = await home.serverStart();
  const long = await timeOf(MANY_ANSWERS, home);
  const short = await timeOf(FEW_ANSWERS, home);
  using other = shiftOf(SPEED_ITEMS, stepsOf(FEW_ANSWERS));
  const prompts = Array.from({ length: SPEED_ITEMS }, (_, i) =>
    promptFor(`item-${i}`, stepsOf(FEW_ANSWERS)(`item-${i}`)),
  );
  const loop = await timed(() => fourAtOnce(prompts, (input) => runOnce(input, other.root, home)));
  const figure = (answers: number, ours: number): Figure => {
    const modelMs = (SPEED_ITEMS * answers * ANSWER_MS) / 4;
    return {
      what: `${SPEED_ITEMS} items with ${answers} answers of 1 s, 4 at once, less the server's start (${ms(start)})`,
      ours: ms(ours - start),
      other: `the model alone: ${ms(modelMs)}`,
      ratio: (ours - start) / modelMs,
      target: atMost(1.3),
    };
  };
  return [
    figure(MANY_ANSWERS, long),
    figure(FEW_ANSWERS, short),
    {
      what: `${SPEED_ITEMS} items with ${FEW_ANSWERS} answers, start included`,
      ours: ms(short),
      other: `\`opencode run\` for each, 4 at once: ${ms(loop)}`,
      ratio: short / loop,
    },
  ];
}

/** A dev that writes a file with each answer, and reports with the last. */
function stepsOf(answers: number): (name: string) => Step[] {
  return (name) => [
    ...Array.from({ length: answers - 1 }, () => ({ ...writes(name), delay: ANSWER_MS })),
    { report: SUCCESS, delay: ANSWER_MS },
  ];
}

async function timeOf(answers: number, home: Home): Promise<number> {
  using project = shiftOf(SPEED_ITEMS, stepsOf(answers));
  return (await node([NIGHTSHIFT, 'start', SHIFT], { cwd: project.root, env: home.environment })).ms;
}

async function memory(model: Model): Promise<Section['figures']> {
  const oneFolder = await weigh(model, 'one');
  const manyFolders = await weigh(model, 'many');
  const figure = (what: string, { early, late }: Weights) => ({
    what: `most memory of the server's tree in the last ${EARLY} of ${MEMORY_ITEMS} items, ${what}`,
    ours: megabytes(late),
    other: `in the first ${EARLY}: ${megabytes(early)}`,
    ratio: late / early,
    target: atMost(1.5),
  });
  return [
    figure('in one folder', oneFolder),
    figure(`in ${MEMORY_ITEMS} folders with an MCP server each`, manyFolders),
    {
      what: 'MCP processes that are left',
      ours: String(manyFolders.left),
      other: `most at a time: ${manyFolders.mostServers}`,
      ratio: manyFolders.left,
      target: atMost(0),
    },
  ];
}

interface Weights {
  readonly early: number;
  readonly late: number;
  readonly left: number;
  readonly mostServers: number;
}

async function weigh(model: Model, folders: 'one' | 'many'): Promise<Weights> {
  using home = new Home(model);
  const dev = (name: string): Step[] =>
    folders === 'one' ? [writes(name), { report: SUCCESS }] : [mark, writes(name), { report: SUCCESS }];
  const configuration = folders === 'one' ? '' : '- tools: alpha\n- working-dir: {name}';
  using project = shiftOf(MEMORY_ITEMS, dev, configuration);
  let [early, late, done, mostServers] = [0, 0, 0, 0];
  await node([NIGHTSHIFT, 'start', SHIFT, '--json'], {
    cwd: project.root,
    env: home.environment,
    onOutput(stdout) {
      const now = stdout.split('"to":"done"').length - 1;
      if (now === done) return;
      done = now;
      const tree = marked(project.folder);
      mostServers = Math.max(mostServers, tree.filter(({ command }) => command.includes('mcp-server')).length);
      const weight = tree.reduce((sum, { bytes }) => sum + bytes, 0);
      if (done <= EARLY) early = Math.max(early, weight);
      if (done > MEMORY_ITEMS - EARLY) late = Math.max(late, weight);
    },
  });
  const left = marked(project.folder).filter(({ command }) => command.includes('mcp-server')).length;
  return { early, late, left, mostServers };
}

const mark: Step = { tool: 'alpha_mark', input: { text: 'here' } };
const writes = (name: string): Step => ({ tool: 'write', input: { filePath: `${name}.txt`, content: 'x' } });

/** A user of OpenCode who has the scripted model and an MCP server `alpha`. */
class Home extends Project {
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

  /** How long `opencode serve` takes until it listens. */
  async serverStart(): Promise<number> {
    const options = {
      env: this.environment,
      cwd: this.root,
      signal: 'SIGTERM' as const,
      onOutput: (stdout: string, child: { kill(signal: 'SIGTERM'): boolean }) => {
        if (stdout.includes('listening on')) child.kill('SIGTERM');
      },
    };
    const started = performance.now();
    return (
      (await run('opencode', ['serve', '--port', '0'], options).catch(() => undefined))?.firstOutputMs ??
      performance.now() - started
    );
  }
}

function shiftOf(items: number, dev: (name: string) => Step[], configuration = ''): Project {
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

function promptFor(name: string, dev: Step[]): string {
  return `You are the dev of Nightshift. "script": "${cell({ name, dev })}"`;
}

/** OpenCode believes PWD more than the folder that it was started in. */
async function runOnce(input: string, cwd: string, { environment }: Home): Promise<void> {
  const env = { ...environment, PWD: cwd };
  await run('opencode', ['run', '--format', 'json', '--model', 'loopback/scripted', '--title', 'x'], {
    input,
    cwd,
    env,
  });
}

async function fourAtOnce(inputs: readonly string[], work: (input: string) => Promise<void>): Promise<void> {
  const queue = [...inputs];
  const worker = async () => {
    for (let input = queue.shift(); input !== undefined; input = queue.shift()) await work(input);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}

interface Weighed {
  readonly command: string;
  readonly bytes: number;
}

/** The processes that carry the shift's mark, with the memory that each holds. */
function marked(folder: string): Weighed[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`NIGHTSHIFT_SHIFT_DIR=${folder}\0`)) return [];
      const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0;
      return [{ command: readFileSync(`/proc/${pid}/cmdline`, 'utf8'), bytes: Number(kilobytes) * 1024 }];
    } catch {
      return [];
    }
  });
}
