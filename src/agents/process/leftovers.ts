import { readdirSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isOfShift, markIn, type Tag, tagOf } from './process-tag.ts';

/** What an agent and all its processes carry: in their environment, or as a tag in their limits. */
export interface Mark {
  /** On a worker of a fleet: the folder of the worker that stands for the shift. */
  readonly shiftFolder: string;
  /** Absent: any item of the shift. */
  readonly key?: string;
  /** With a key: only those of its dev, or of its qa. A dev may be waiting for the verdict. */
  readonly role?: string;
}

/** A killed process takes a moment to vanish, and may have forked just before: check again, but not forever. */
const ROUNDS = 40;
const PAUSE_MS = 25;
/** Too short for a machine to use up all its ids. */
const SHORT_MS = 1000;
const MOST_IDS = 500;

interface MarkedProcess {
  readonly pid: number;
  /** From its environment. */
  readonly shiftFolder: string | undefined;
  readonly key: string;
  readonly role: string | undefined;
  readonly tag: Tag | undefined;
}

/** The processes with the mark, whatever their parent or group; never this one or its ancestors. Linux only. */
export async function findMarked(mark: Mark): Promise<number[]> {
  const isMarked = ({ pid, shiftFolder, key, role, tag }: MarkedProcess): boolean => {
    const isItem = key === mark.key && (mark.role === undefined || role === mark.role);
    if (shiftFolder === mark.shiftFolder && (mark.key === undefined || isItem)) return true;
    return mark.key === undefined && tag !== undefined && isOfShift(tag, mark.shiftFolder) && !isDead(pid);
  };
  return (await walks.done()).filter(isMarked).map(({ pid }) => pid);
}

/** Kills them until none is left; returns how many there were. */
export function endMarked(mark: Mark): Promise<number> {
  return endAll(() => findMarked(mark));
}

/** Kills all processes with the tag of one attempt. `leader`: its first process; `ms`: how long ago it started. */
export async function endTagged(tag: Tag, { leader, ms }: { leader: number; ms: number }): Promise<number> {
  const young = ms < SHORT_MS ? idsAfter(leader) : undefined;
  if (young?.every((pid) => tagOf(pid) !== tag)) return 0;
  return endAll(async () => (await tagWalks.done()).get(tag) ?? []);
}

/** Signals all processes with the tag of one attempt, except the one named. */
export async function signalTagged(
  tag: Tag,
  { signal, except }: { signal: NodeJS.Signals; except: number },
): Promise<void> {
  const tagged = (await tagWalks.done()).get(tag) ?? [];
  for (const pid of tagged) if (pid !== except) kill(pid, signal);
}

/** Some containers replace this file with one that may be outdated (lxcfs). */
let isGenuine: boolean | undefined;

/**
 * Ids are assigned in order, so everything a process started just now has an id between its own and the latest.
 * Checking these few is faster than listing all processes. Undefined: the ids wrapped around, or there are too many.
 */
function idsAfter(leader: number): number[] | undefined {
  isGenuine ??= deviceOf('/proc/loadavg') === deviceOf('/proc');
  if (!isGenuine) return undefined;
  const latest = Number(read('/proc/loadavg').trim().split(' ').at(-1));
  const count = latest - leader;
  return count >= 0 && count <= MOST_IDS ? Array.from({ length: count }, (_, i) => leader + 1 + i) : undefined;
}

async function endAll(find: () => Promise<number[]>): Promise<number> {
  const ended = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    const found = (await find()).filter((pid) => !isDead(pid));
    if (found.length === 0) break;
    for (const pid of found) {
      ended.add(pid);
      kill(pid);
    }
    await delay(Math.min(2 ** round, PAUSE_MS));
  }
  return ended.size;
}

/** Callers at the same moment share one walk over /proc: a hundred items that stop at once need one, not a hundred. */
class SharedWalk<T> {
  readonly #work: () => T;
  #next: Promise<T> | undefined;

  constructor(work: () => T) {
    this.#work = work;
  }

  done(): Promise<T> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = undefined;
        resolve(this.#work());
      });
    });
    return this.#next;
  }
}

const walks = new SharedWalk(walk);
const tagWalks = new SharedWalk(walkTags);

function walk(): MarkedProcess[] {
  const spared = withAncestors(process.pid);
  return pids()
    .filter((pid) => !spared.has(pid))
    .map((pid) => {
      const environment = read(`/proc/${pid}/environ`);
      const shiftFolder = markIn({
        NIGHTSHIFT_WORKER_DIR: variable(environment, 'NIGHTSHIFT_WORKER_DIR'),
        NIGHTSHIFT_SHIFT_DIR: variable(environment, 'NIGHTSHIFT_SHIFT_DIR'),
      });
      const key = variable(environment, 'NIGHTSHIFT_KEY') ?? '';
      return { pid, shiftFolder, key, role: variable(environment, 'NIGHTSHIFT_ROLE'), tag: tagOf(pid) };
    });
}

function walkTags(): Map<Tag, number[]> {
  const tagged = new Map<Tag, number[]>();
  for (const pid of pids()) {
    const tag = tagOf(pid);
    if (tag !== undefined) tagged.set(tag, [...(tagged.get(tag) ?? []), pid]);
  }
  return tagged;
}

/** Empty if there is no /proc, or no descriptor left to read it. */
function pids(): number[] {
  if (process.platform !== 'linux') return [];
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** A zombie: it has ended, and its parent has not read its status yet. */
function isDead(pid: number): boolean {
  return /^\d+ \(.*\) [ZX] /s.test(read(`/proc/${pid}/stat`));
}

export function variable(environment: string, name: string): string | undefined {
  const entries = `\0${environment}`;
  const start = entries.indexOf(`\0${name}=`);
  if (start === -1) return undefined;
  const end = entries.indexOf('\0', start + 1);
  return entries.slice(start + name.length + 2, end === -1 ? undefined : end);
}

export function withAncestors(pid: number): Set<number> {
  const chain = new Set<number>();
  for (let next = pid; next > 0 && !chain.has(next); next = parentOf(next)) chain.add(next);
  return chain;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

function deviceOf(path: string): number | undefined {
  try {
    return statSync(path).dev;
  } catch {
    return undefined;
  }
}

/** Empty if the process is gone, or of another user. */
export function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already, or not ours to kill: the next round tells.
  }
}
