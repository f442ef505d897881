import { readdirSync, readFileSync } from 'node:fs';
import type { EventType } from '../../src/core/model/events.ts';
import { WRITE_POINTS } from '../../src/store/folder/files/atomic-write.ts';
import { processesOf, type RunningProcess, sleep } from '../harness.ts';
import type { Dispatch } from './crash-shift.ts';

/** When nightshift is killed. `nth` of an event counts all of them, of a failpoint only those of its name. */
export type Moment =
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'event'; readonly nth: number; readonly ms: number }
  | { readonly kind: 'failpoint'; readonly name: string; readonly nth: number };

/** `alone`: only nightshift, as by the OOM killer. `everything`: its whole tree, as by a machine that goes down. */
export type Victim = 'alone' | 'everything';

/** The events that the crash shift comes to, and how many of them a run may see at most before it is killed there. */
const EVENT_POINTS = {
  'run:started': 1,
  'batch:claimed': 3,
  'dev:started': 8,
  'attempt:finished': 8,
  'dev:finished': 8,
  'qa:started': 6,
  'qa:finished': 6,
  'item:recorded': 10,
  'steps:changed': 2,
  'lesson:changed': 3,
  progress: 2,
  'run:finished': 1,
} satisfies Partial<Record<EventType, number>>;

const OWN_POINTS: Record<Dispatch, Partial<Record<EventType, number>>> = {
  batch: { 'batch:finished': 2 },
  stream: { 'concurrency:changed': 2 },
};

/** How many writes of each kind a run may see. */
const MOST_WRITES: Record<string, number> = { table: 10, journal: 10, task: 6, document: 3, lessons: 4 };

const MOST: Record<string, number> = {
  ...Object.fromEntries(WRITE_POINTS.map((name) => [name, MOST_WRITES[name.split(':')[0]!]!])),
  ...EVENT_POINTS,
  ...OWN_POINTS.batch,
  ...OWN_POINTS.stream,
};

export function failpointsOf(dispatch: Dispatch): string[] {
  return [...WRITE_POINTS, ...Object.keys({ ...EVENT_POINTS, ...OWN_POINTS[dispatch] })];
}

export function failpointMoment(name: string, random: () => number): Moment {
  return { kind: 'failpoint', name, nth: 1 + Math.floor(random() * MOST[name]!) };
}

export function randomMoment(random: () => number): Moment {
  return random() < 0.5
    ? { kind: 'time', ms: random() * 800 }
    : { kind: 'event', nth: 1 + Math.floor(random() * 40), ms: random() * 25 };
}

export function environmentOf(moment: Moment): Record<string, string> {
  return moment.kind === 'failpoint' ? { NIGHTSHIFT_CRASH_AT: `${moment.name}#${moment.nth}` } : {};
}

/** Waits for the moment and kills; at a failpoint nightshift does that itself. False: it had ended before. */
export async function killAt(
  running: RunningProcess,
  moment: Moment,
  victim: Victim,
  folder: string,
): Promise<boolean> {
  const { child } = running;
  const exited = running.ended.then(() => 'exited' as const);
  if (moment.kind === 'event') await Promise.race([exited, eventsPrinted(running, moment.nth)]);
  if (moment.kind !== 'failpoint') {
    await Promise.race([exited, sleep(moment.ms)]);
    if (child.exitCode === null && child.signalCode === null) {
      if (victim === 'everything') killTree(running.pid, folder);
      else running.kill('SIGKILL');
    }
  }
  const { signal } = await running.ended;
  return signal === 'SIGKILL';
}

function eventsPrinted({ child }: RunningProcess, nth: number): Promise<void> {
  let seen = 0;
  return new Promise((resolve) => {
    child.stdout?.on('data', (text: string) => {
      seen += text.split('\n').length - 1;
      if (seen >= nth) resolve();
    });
  });
}

/** Nightshift stands still first; agents may fork while the list is made, so it is made until it is empty. */
function killTree(pid: number, folder: string): void {
  process.kill(pid, 'SIGSTOP');
  const own = [...parentsOfAll()].flatMap(([child, parent]) => (parent === pid ? [child] : []));
  for (const each of [pid, ...own]) end(each);
  for (let marked = processesOf(folder); marked.length > 0; marked = processesOf(folder)) marked.forEach(end);
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was faster.
  }
}

function parentsOfAll(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      parents.set(Number(name), Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]));
    } catch {}
  }
  return parents;
}
