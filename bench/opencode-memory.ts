import { readdirSync, readFileSync } from 'node:fs';
import { type Model, type Step, SUCCESS } from '../test/agents/model.ts';
import { atMost, type Figure, type Section } from './figure.ts';
import { megabytes, NIGHTSHIFT, node } from './measure.ts';
import { Home, shiftOf, withModel, writes } from './opencode-home.ts';
import { SHIFT } from './project.ts';

const MEMORY_ITEMS = 200;
const EARLY = 20;

/** What the server of OpenCode weighs; takes minutes. */
export async function opencodeMemory(): Promise<Section> {
  return { title: 'The memory of OpenCode', figures: await withModel(memory) };
}

async function memory(model: Model): Promise<Figure[]> {
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
