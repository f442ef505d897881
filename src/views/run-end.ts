import type { LastRun } from '../core/folds/last-run.ts';
import type { Learning } from '../core/folds/learning.ts';
import type { Summary } from '../core/folds/summary.ts';
import { formatDuration } from '../core/model/duration.ts';
import type { NightshiftEvent } from '../core/model/events.ts';
import type { Usage } from '../core/model/model.ts';
import type { NextCommand } from '../core/schedule/run-request.ts';
import type { KeptWorkspaces } from '../core/workspace/kept.ts';
import type { ResultsPlace } from '../core/workspace/results.ts';
import { keptLines, resultsLines } from './kept-workspaces.ts';
import { learningLines } from './learning.ts';
import { nextLine } from './next-line.ts';
import { endText } from './plain.ts';
import { putBackLines, summaryLines, usageText } from './summary.ts';

export type RunFinished = Extract<NightshiftEvent, { type: 'run:finished' }>;

/** For watching the run of another process: how it ended. Without an end, it was killed. */
export function attachedEndLines(shift: string, end: RunFinished | undefined, next: NextCommand | undefined): string[] {
  const more = next ? [`${nextLine(next)}.`] : [];
  if (!end) return [[`${shift}: the run was killed.`, ...more].join(' ')];
  const { total, completed, failed, remaining } = end;
  const counts = `${total} items, ${completed} completed, ${failed} failed, ${remaining} remaining.`;
  return [
    `${shift}: the run has ${endText(end)}.${total === undefined ? '' : ` ${counts}`}`,
    `\`nightshift status ${shift}\` shows more.`,
    ...more,
  ];
}

interface Ended {
  readonly shift: string;
  readonly reason: string;
  readonly ms: number;
  /** It came to its end, with or without failed items. */
  readonly isFinished: boolean;
  readonly alreadyComplete?: boolean | undefined;
}

interface Standing {
  readonly summary: Summary;
  readonly learning: Learning;
  readonly lastRun: LastRun | undefined;
  readonly shiftMs: number;
  readonly next: NextCommand | undefined;
  readonly workspaces: KeptWorkspaces;
  readonly results: ResultsPlace | undefined;
}

/** Rule M7: the summary that you read in the morning. Without a standing, the shift can no longer be read. */
export function closingLines(end: Ended, standing: Standing | undefined): string[] {
  const { shift, reason } = end;
  if (!standing) return [`stopped: ${reason}`];
  const workspaces = keptLines(shift, standing.workspaces);
  // `archive` refuses a shift that has workspaces.
  const archive = workspaces.length === 0 ? [`\`nightshift archive ${shift}\` archives the shift.`] : [];
  if (end.alreadyComplete) return ['Already complete: nothing was left to do.', ...workspaces, ...archive];
  const { summary, learning, lastRun, next } = standing;
  const { total, completed } = summary.counts;
  const suggestion = next ? [`${nextLine(next)}.`] : [];
  return [
    '',
    ...summaryLines(shift, summary),
    ...learningLines(shift, learning),
    ...putBackLines(shift, lastRun?.edits ?? []),
    ...resultsLines(shift, standing.results),
    ...workspaces,
    ...spentLines(end.ms, standing),
    ...(completed === total ? ['All done.', ...archive] : []),
    ...(end.isFinished ? suggestion : [[`stopped: ${reason}.`, ...suggestion].join(' ')]),
  ];
}

/** What this run took; if there were others, also what all took. */
function spentLines(ms: number, { lastRun, summary, shiftMs }: Standing): string[] {
  const line = (what: string, time: number, usage: Usage) =>
    [`${what}: ${formatDuration(time)}`, usageText(usage)].filter((part) => part !== undefined).join(', ');
  const run = line('this run', ms, lastRun?.usage ?? {});
  return lastRun?.number === 1 ? [run] : [run, line('the shift', shiftMs, summary.usage)];
}
