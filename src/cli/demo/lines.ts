import { join } from 'node:path';
import type { DemoEnd, RepairedNote } from '../../app/demo/judge-demo.ts';
import { NOTES, UNFINISHED } from '../../app/demo/notes.ts';
import { SHIFT, TASKS } from '../../app/demo/shift.ts';
import { shellWord } from '../../core/schedule/run-request.ts';
import { count } from '../../core/text/count.ts';
import { oneLine } from '../../core/text/printable.ts';
import { summaryLines } from '../../views/summary.ts';

/** How the user, where they are, names the demo's folder and this program. */
export interface Spelling {
  readonly folder: string;
  readonly nightshift: string;
}

export function introLines({ folder }: Pick<Spelling, 'folder'>): string[] {
  return [
    `${folder}: ${NOTES.length} notes, and a shift that makes a web page of each.`,
    'One note is unfinished on purpose, so that you see what a failure looks like.',
    '',
  ];
}

/** `report`: the line that names it, if there is one. */
export function endLines(
  { summary, failure, repaired, report }: DemoEnd & { readonly report: string | undefined },
  reason: string,
  spelling: Spelling,
): string[] {
  if (!failure) {
    return [
      ...summaryLines(SHIFT, summary),
      `The demo did not end as intended: ${oneLine(reason)}.`,
      `To continue: cd ${shellWord(spelling.folder)} && ${spelling.nightshift} start`,
    ];
  }
  return [
    ...madeLines(spelling.folder, summary.counts.completed),
    ...repaired.flatMap(repairedLines),
    `Failed, as intended: row ${failure.row} (${UNFINISHED.name}), after ${count(failure.attempts, 'attempt')}:`,
    `  ${oneLine(failure.reason)}`,
    ...(report === undefined ? [] : [report]),
    ...nextLines(failure.row, spelling),
  ];
}

function madeLines(folder: string, pages: number): string[] {
  return [
    `Made: ${count(pages, 'page')} (open the index in a browser), the table, the task files:`,
    `  ${join(folder, 'site', 'index.html')}`,
    `  ${join(folder, '.nightshift', SHIFT, 'table.csv')}`,
    ...Object.keys(TASKS).map((task) => `  ${join(folder, '.nightshift', SHIFT, `${task}.md`)}`),
  ];
}

function repairedLines({ name, row, attempt, reasons }: RepairedNote): string[] {
  return [
    `Passed at attempt ${attempt}: row ${row} (${name}). Before that:`,
    ...reasons.map((reason) => `  ${oneLine(reason)}`),
  ];
}

/** Commands that work when they are pasted, in this order, where the user is. */
function nextLines(row: number, { folder, nightshift }: Spelling): string[] {
  const { name, title } = UNFINISHED;
  return [
    '',
    'Try next (the last command finishes the note and retries it):',
    `  cd ${shellWord(folder)}`,
    `  ${nightshift} status`,
    `  ${nightshift} show ${SHIFT} ${row}`,
    `  printf '# ${title}\\n\\nIda said yes.\\n' > notes/${name}.md &&`,
    `    ${nightshift} retry`,
  ];
}
