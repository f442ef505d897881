import { localTime } from '../core/text/local-time.ts';
import { pauseText } from './plain.ts';

interface Process {
  readonly pid: number;
}

interface Paused {
  readonly running: Process | null;
  readonly since?: string;
  readonly items?: number;
  /** Running items were given back. */
  readonly now: boolean;
}

/** What `pause` did. */
export function pausedLine(shift: string, { running, items = 0, ...paused }: Paused, time: number): string {
  const resume = `\`nightshift resume ${shift}\` continues.`;
  if (paused.since === undefined) return `${shift} is not running: there is nothing to pause.`;
  const since = localTime(paused.since, time);
  if (!running) return `${shift} is not running, and paused since ${since}. ${resume}`;
  return `${shift} is ${pauseText({ since, items, now: paused.now })}. ${resume}`;
}

/** What `resume` did. */
export function resumedLine(
  shift: string,
  { wasPaused, running }: { readonly wasPaused: boolean; readonly running: Process | null },
): string {
  const start = `\`nightshift start ${shift}\` resumes it where it left off.`;
  if (!wasPaused && running) return `${shift} is not paused: it runs in process ${running.pid}.`;
  if (!wasPaused) return `${shift} is not paused, and not running: ${start}`;
  if (running) return `${shift} continues in process ${running.pid}.`;
  return `${shift} is no longer paused. It is not running: ${start}`;
}
