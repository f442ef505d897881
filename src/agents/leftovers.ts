import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** What an agent and all that it starts carry in their environment, wherever they go. */
export interface Mark {
  readonly shiftFolder: string;
  /** Absent: any item of the shift, except those of `test-task`, which may run beside a shift. */
  readonly key?: string;
}

const TEST_KEY = 'test-';
/** A killed process takes a moment to vanish, and may have forked just before: look again, but not for ever. */
const ROUNDS = 40;
const PAUSE_MS = 25;

interface Marked {
  readonly pid: number;
  readonly shiftFolder: string;
  readonly key: string;
}

/** The processes that carry the mark, whatever their parent or group; never this one nor its ancestors. Linux only. */
export async function findMarked(mark: Mark): Promise<number[]> {
  const marked = await scan();
  return marked
    .filter(({ shiftFolder }) => shiftFolder === mark.shiftFolder)
    .filter(({ key }) => (mark.key === undefined ? !key.startsWith(TEST_KEY) : key === mark.key))
    .map(({ pid }) => pid);
}

/** Kills them until none is left; returns how many there were. */
export async function endMarked(mark: Mark): Promise<number> {
  const ended = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    const found = await findMarked(mark);
    if (found.length === 0) break;
    for (const pid of found) {
      ended.add(pid);
      kill(pid);
    }
    await delay(PAUSE_MS);
  }
  return ended.size;
}

let nextScan: Promise<Marked[]> | undefined;

/** Who asks in the same moment shares one walk over /proc: a hundred items that are stopped at once need one, not a hundred. */
function scan(): Promise<Marked[]> {
  nextScan ??= new Promise((resolve) => {
    setImmediate(() => {
      nextScan = undefined;
      resolve(walk());
    });
  });
  return nextScan;
}

function walk(): Marked[] {
  if (process.platform !== 'linux') return [];
  const spared = withAncestors(process.pid);
  const marked: Marked[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || spared.has(pid)) continue;
    const environment = read(`/proc/${name}/environ`);
    const shiftFolder = variable(environment, 'NIGHTSHIFT_SHIFT_DIR');
    if (shiftFolder === undefined) continue;
    marked.push({ pid, shiftFolder, key: variable(environment, 'NIGHTSHIFT_KEY') ?? '' });
  }
  return marked;
}

function variable(environment: string, name: string): string | undefined {
  const entries = `\0${environment}`;
  const start = entries.indexOf(`\0${name}=`);
  if (start === -1) return undefined;
  const end = entries.indexOf('\0', start + 1);
  return entries.slice(start + name.length + 2, end === -1 ? undefined : end);
}

function withAncestors(pid: number): Set<number> {
  const chain = new Set<number>();
  for (let next = pid; next > 0 && !chain.has(next); next = parentOf(next)) chain.add(next);
  return chain;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** Gone in the meantime, or somebody else's: as if it had nothing. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already, or not ours to kill: the next round sees which.
  }
}
