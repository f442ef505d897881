import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTraits } from '../core/model/agent-traits.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { parseManager, setProgress, setSetting } from '../formats/manager.ts';
import { findRoot, type ShiftPaths } from '../store/folder/layout.ts';
import { createShift, readItems } from '../store/folder/new-shift.ts';
import { checkAgentName, requireKnown } from './create-shift.ts';
import { addFiles } from './new-files.ts';
import type { World } from './world.ts';

/** The same folder from `src` and from `dist`. */
const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));
const SAMPLE = 'sample';
const ABOUT = 'README.md';

export interface Example {
  readonly name: string;
  /** One line. */
  readonly summary: string;
}

export interface ExampleShift {
  readonly paths: ShiftPaths;
  readonly rows: number;
  readonly tasks: readonly string[];
  readonly agent: string;
  /** The key that the agent can't start without, and that the manifest does not have yet. */
  readonly needs?: string | undefined;
  /** The folder of the sample data, relative to the project, and the files in it. */
  readonly sample: string;
  readonly files: readonly string[];
}

export async function exampleNames(): Promise<string[]> {
  const entries = await readdir(EXAMPLES, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

export async function listExamples(): Promise<Example[]> {
  const names = await exampleNames();
  return Promise.all(names.map(async (name) => ({ name, summary: await summaryOf(name) })));
}

/** The first line below the heading. */
async function summaryOf(name: string): Promise<string> {
  const [, ...lines] = (await readFile(join(EXAMPLES, name, ABOUT), 'utf8')).split('\n');
  return lines.find((line) => line.trim() !== '') ?? '';
}

/**
 * Creates a shift from an example, and a folder of the example's name with its sample data next to `.nightshift`.
 * Writes everything or nothing, and never over a file of yours.
 */
export async function createFromExample(
  world: World,
  name: string,
  { example, agent }: { readonly example: string; readonly agent?: string | undefined },
): Promise<ExampleShift> {
  checkAgentName(agent);
  requireKnown('example', example, await exampleNames());
  const root = findRoot(world.cwd) ?? world.cwd;
  const created = new Date(world.now()).toISOString().slice(0, 10);
  const { table } = await readItems(join(EXAMPLES, example, 'table.csv'));
  const documents = await readDocuments(example);
  refuseScripts(example, documents['manager.md']!, agent);
  const manager = fitManager(documents['manager.md']!, { name, created, agent, rows: table.rowCount });
  const files = await readSample(example);
  const added = await addFiles(root, files);
  try {
    const shift = { name, created, parallel: false, settings: {}, items: table };
    const paths = await createShift(root, { ...shift, documents: { ...documents, 'manager.md': manager } });
    const { tasks } = parseManager(manager, paths.manager);
    const worker = agentIn(manager);
    return {
      ...{ paths, rows: table.rowCount, tasks: tasks.map((task) => task.name), sample: example },
      ...{ agent: worker, needs: findTraits(worker)?.needs },
      files: [...files.keys()],
    };
  } catch (error) {
    await added.undo();
    throw error;
  }
}

/** The manifest, the task files and `.env`, by name. */
async function readDocuments(example: string): Promise<Record<string, string>> {
  const folder = join(EXAMPLES, example);
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && (entry.name === '.env' || entry.name.endsWith('.md')))
    .map((entry) => entry.name)
    .filter((file) => file !== ABOUT);
  const texts = names.map(async (file) => [file, await readFile(join(folder, file), 'utf8')] as const);
  return Object.fromEntries(await Promise.all(texts));
}

function agentIn(manager: string): string {
  return parseManager(manager, 'manager.md').settings.find(({ key }) => key === 'agent')!.value;
}

/** An agent that runs scripts can't do an example that is written for one that reads. */
function refuseScripts(example: string, manager: string, agent: string | undefined): void {
  const runsSteps = (name: string) => findTraits(name)?.runsSteps === true;
  const own = agentIn(manager);
  if (agent === undefined || !runsSteps(agent) || runsSteps(own)) return;
  const message = `the steps of ${example} are text, and the agent ${agent} runs only scripts`;
  throw new NightshiftError('usage', message, `leave --agent out for ${own}, or choose one that reads: claude, codex`);
}

interface NewTerms {
  readonly name: string;
  readonly created: string;
  readonly agent: string | undefined;
  readonly rows: number;
}

function fitManager(text: string, { name, created, agent, rows }: NewTerms): string {
  let fitted = text.replace(/^# .*$/m, `# ${name}`);
  fitted = setSetting(setSetting(fitted, 'name', name), 'created', created);
  if (agent !== undefined) fitted = setSetting(fitted, 'agent', agent);
  return setProgress(fitted, { total: rows, completed: 0, failed: 0, remaining: rows });
}

/** By path below the project, with what the example says about itself. */
async function readSample(example: string): Promise<Map<string, Buffer>> {
  const folder = join(EXAMPLES, example, SAMPLE);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map([[join(example, ABOUT), await readFile(join(EXAMPLES, example, ABOUT))]]);
  for (const entry of entries.filter((each) => each.isFile())) {
    const file = join(entry.parentPath, entry.name);
    files.set(join(example, relative(folder, file)), await readFile(file));
  }
  return files;
}
