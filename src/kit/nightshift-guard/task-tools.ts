import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Batch {
  readonly tools?: readonly string[];
  readonly items?: readonly { readonly index: number }[];
}

/**
 * The tools of the task that an agent was told about, from the open batch, which only agents with a shell can write.
 * Nothing if it was told about no prompt. An agent that was told about several, or about one of another role, gets no
 * tools.
 */
export function toolsFor(agent: string, text: string, directory: string): readonly string[] | undefined {
  const told = [...text.matchAll(PROMPT)];
  const [first, shift = '', row, role] = told[0] ?? [];
  if (first === undefined || !/^nightshift-(manager|dev|qa)$/.test(agent)) return undefined;
  if (agent !== `nightshift-${role}` || told.some(([prompt]) => prompt !== first)) return [];
  const { tools = [], items = [] } = readBatch(join(directory, '.nightshift', shift, '.engine', 'batch.json'));
  if (!items.some(({ index }) => index === Number(row) - 1)) return [];
  return tools.filter((tool) => tool !== 'bash' || role === 'dev');
}

const PROMPT = /\.nightshift\/([a-z0-9-]+)\/\.engine\/prompts\/row-(\d+)-(dev|qa)\.md/g;

function readBatch(file: string): Batch {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Batch;
  } catch {
    return {};
  }
}
