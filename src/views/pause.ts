import { pauseText } from './plain.ts';

interface Process {
  readonly pid: number;
}

interface Paused {
  readonly running: Process | null;
  readonly since?: string;
  readonly items?: number;
}

/** What `pause` did. */
export function pausedLine(shift: string, { running, since, items = 0 }: Paused, now: boolean): string {
  const resume = `\`nightshift resume ${shift}\` continues.`;
  if (since === undefined) return `${shift} is not running: there is nothing to pause.`;
  if (!running) return `${shift} is not running, and paused since ${since}. ${resume}`;
  return `${shift} is ${pauseText({ since, items, now })}. ${resume}`;
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
