import { setTimeout as sleep } from 'node:timers/promises';
import { lastEvent } from '../../app/history.ts';
import { findNext } from '../../app/next-command.ts';
import { isRunning } from '../../app/run/follow-run.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { type Holder, provenHolder } from '../../store/folder/run-lock.ts';
import { nextLine } from '../../views/next-line.ts';
import { endText } from '../../views/plain.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

const LOOK_EVERY_MS = 100;
const GONE_WITHIN_MS = 3000;

/** Asks the run of a shift to end, as Ctrl-C does (`--now`: as the second one does), and waits until it has. */
export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const paths = await chooseShift(io, name);
  const holder = await provenHolder(paths.runLock);
  if (!holder) {
    if (options.json) io.print(JSON.stringify({ shift: paths.name, stopped: false, running: null }));
    else io.print(`${paths.name} is not being run: there is nothing to stop.`);
    return EXIT.done;
  }
  if (!options.json) io.print(announcement(paths.name, holder, options.now));
  await askToStop(paths, holder, options.now === true);
  await untilEnded(paths, holder);
  const end = await endOf(paths, holder);
  if (options.json) {
    const { exitCode = null, reason = null } = end ?? {};
    io.print(JSON.stringify({ shift: paths.name, stopped: true, pid: holder.pid, run: holder.run, exitCode, reason }));
    return EXIT.done;
  }
  for (const line of await endLines(io, paths, end)) io.print(line);
  return EXIT.done;
}

type RunFinished = Extract<NightshiftEvent, { type: 'run:finished' }>;

/** How a run ended; undefined if it did not come to say so. */
export function endOf(paths: ShiftPaths, { run }: Holder): Promise<RunFinished | undefined> {
  return lastEvent(paths, run, 'run:finished');
}

export async function endLines(io: Io, paths: ShiftPaths, end?: RunFinished): Promise<string[]> {
  const { total, completed, failed } = end ?? {};
  const counts = total === undefined ? '' : `; ${completed} of ${total} items completed, ${failed} failed`;
  const next = await findNext(paths, io);
  return [`${end ? endText(end) : 'ended: killed'}${counts}.`, ...(next ? [`${nextLine(next)}.`] : [])];
}

function announcement(shift: string, { pid }: Holder, now: boolean): string {
  if (now) return `stopping process ${pid} at once: what is in flight is given back`;
  return `stopping process ${pid} when what is in flight has finished (\`nightshift stop ${shift} --now\`: at once)`;
}

/** The first SIGINT lets items finish, the second ends them; one that already lets them finish must not get a second. */
export async function askToStop(paths: ShiftPaths, holder: Holder, now: boolean): Promise<void> {
  const isDraining = async () => (await lastEvent(paths, holder.run, 'run:draining')) !== undefined;
  if (!(await isDraining())) send(holder, 'SIGINT');
  else if (!now) return;
  if (!now) return;
  // Two signals that are sent together may arrive as one.
  while (isRunning(paths, holder.run) && !(await isDraining())) await sleep(LOOK_EVERY_MS);
  if ((await provenHolder(paths.runLock))?.run === holder.run) send(holder, 'SIGINT');
}

/**
 * Whether it has ended within so many milliseconds. The lock is free a moment before the process is gone; one whose parent
 * does not look after it never quite is.
 */
export async function untilEnded(
  paths: ShiftPaths,
  { run, pid }: Holder,
  within = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  for (let waited = 0; isRunning(paths, run); waited += LOOK_EVERY_MS) {
    if (waited >= within) return false;
    await sleep(LOOK_EVERY_MS);
  }
  for (let waited = 0; waited < GONE_WITHIN_MS && isThere(pid); waited += LOOK_EVERY_MS) await sleep(LOOK_EVERY_MS);
  return true;
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function send({ pid }: Holder, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ESRCH') return;
    const hint = 'stop it as the user that started it';
    throw new NightshiftError('locked', `process ${pid} can't be signalled: ${(cause as Error).message}`, hint);
  }
}
