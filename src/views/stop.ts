import type { AfterStop, StoppedRun } from '../app/stop-run.ts';
import { nextLine } from './next-line.ts';
import { endText } from './plain.ts';

/** How a run that was stopped ended, and what continues the shift. */
export function stoppedLines(shift: string, end: StoppedRun['end'], { next, isPaused }: AfterStop): string[] {
  const { total, completed, failed } = end ?? {};
  const counts = total === undefined ? '' : `; ${completed} of ${total} items completed, ${failed} failed`;
  return [
    `${end ? endText(end) : 'ended: killed'}${counts}.`,
    ...(isPaused ? [`${shift} stays paused: \`nightshift resume ${shift}\` lifts that.`] : []),
    ...(next ? [`${nextLine(next)}.`] : []),
  ];
}
