import type { Report, ReportGroup } from '../../app/report/report.ts';
import type { NextCommand } from '../../core/schedule/run-request.ts';
import { count } from '../../core/text/count.ts';
import { shortReason } from '../row-name.ts';
import { groupName } from '../summary.ts';

/** More rows than this are not named in a command line. */
const ROWS_NAMED = 20;

/** Something that only a person can do, with the command for it. */
export interface Need {
  readonly text: string;
  readonly command: string;
}

/** What needs a person besides failed items, the most urgent first. */
export function needsOf({ status, account }: Report): Need[] {
  const { shift, putBack, paused, next, learning } = status;
  const { held } = status.workspaces;
  const heldLessons = learning.states.held;
  return [
    ...(putBack.length > 0
      ? [
          {
            text: `Edits of ${putBack.join(', ')} were reverted while items were running. Look at them.`,
            command: `nightshift accept ${shift}`,
          },
        ]
      : []),
    ...(held > 0
      ? [
          {
            text: `${count(held, 'result')} ${held === 1 ? 'waits' : 'wait'} for your approval.`,
            command: `nightshift deliver ${shift}`,
          },
        ]
      : []),
    ...(heldLessons > 0
      ? [
          {
            text: `${count(heldLessons, 'lesson')} may be harmful and wait for your decision.`,
            command: `nightshift lessons ${shift}`,
          },
        ]
      : []),
    ...(paused ? [{ text: 'The shift is paused.', command: `nightshift resume ${shift}` }] : []),
    ...(next && account ? [{ text: `${nextText(next.does)}.`, command: next.command }] : []),
  ];
}

function nextText(does: NextCommand['does']): string {
  if (does === 'adopt') return 'Continue the run and adopt what workers are running';
  return does === 'retry' ? 'Retry what failed, once you have changed what made it fail' : 'Continue the run';
}

export function groupTitle({ task, reason, items }: ReportGroup): string {
  return `${task}, ${groupName(items)}: ${shortReason(reason)}`;
}

/** The commands that look at a failed item and retry its group. */
export function groupCommands(shift: string, { task, items }: ReportGroup): string[] {
  const rows = items.slice(0, ROWS_NAMED).map(({ row }) => row);
  return [
    `nightshift show ${shift} ${rows[0]} ${task}`,
    items.length > ROWS_NAMED
      ? `nightshift retry ${shift} --task ${task}`
      : `nightshift retry ${shift} --task ${task} --rows ${rows.join(',')}`,
  ];
}
