import { readdirSync, readlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { read, variable, withAncestors } from './process/leftovers.ts';
import { hasTagIn } from './process/process-tag.ts';

/** What every agent and check has in its environment. */
const MARKS = ['NIGHTSHIFT_ROLE', 'NIGHTSHIFT_SHIFT_DIR', 'NIGHTSHIFT_KEY', 'NIGHTSHIFT_ITEM', 'NIGHTSHIFT_TABLE'];
/** Commands that start agents or checks without the run lock. They never start `nightshift` themselves. */
const WORKERS = ['test-task', 'table', 'update-table'];

/** In a container it may be the run itself. It adopts what is nobody's child, such as a page beside the run. */
const INIT = 1;

/**
 * Finds the agent or check of a run that called this process: by the marks in its environment, by those of an
 * ancestor, by an ancestor that runs a shift, or by the tag that all descendants of an agent inherit (Linux). It
 * misses only a process that lowers its own limits, empties its environment and is adopted by another process.
 */
export function callingAgent(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number = process.pid,
): string | undefined {
  if (MARKS.some((name) => environment[name] !== undefined)) return nameOf(environment.NIGHTSHIFT_ROLE);
  if (process.platform !== 'linux') return undefined;
  if (hasTagIn(read(`/proc/${pid}/limits`))) return nameOf(undefined);
  for (const ancestor of withAncestors(pid)) {
    if (ancestor === pid) continue;
    const given = read(`/proc/${ancestor}/environ`);
    if (MARKS.some((name) => variable(given, name) !== undefined)) return nameOf(variable(given, 'NIGHTSHIFT_ROLE'));
    if (ancestor !== INIT && runsShift(ancestor)) return nameOf(undefined);
  }
  return undefined;
}

function nameOf(role: string | undefined): string {
  return role === undefined || !/^[a-z]+$/.test(role) ? 'an agent' : `an agent (${role})`;
}

function runsShift(pid: number): boolean {
  const [, ...words] = read(`/proc/${pid}/cmdline`).split('\0');
  // What Node runs, and nothing after it: `timeout 9 nightshift table` and `npx nightshift table` only wait for a
  // command.
  const [script = '', command = ''] = words.filter((word) => !word.startsWith('-'));
  if (basename(script) !== 'nightshift' && !script.endsWith('/cli/main.js')) return false;
  return WORKERS.includes(command) || holdsRunLock(pid);
}

/** The run lock is on the shift's folder. */
function holdsRunLock(pid: number): boolean {
  return descriptors(pid).some((fd) => {
    const isShift = basename(dirname(linkOf(`/proc/${pid}/fd/${fd}`))) === '.nightshift';
    return isShift && /^lock:.*\bFLOCK\b.*\bWRITE\b/m.test(read(`/proc/${pid}/fdinfo/${fd}`));
  });
}

function descriptors(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return [];
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}
