import type { ItemReport, ItemTask } from '../app/read-item.ts';
import { formatDuration } from '../core/model/duration.ts';
import { localTime } from '../core/text/local-time.ts';
import { oneLine, printable } from '../core/text/printable.ts';
import { rowName, workerText } from './row-name.ts';
import { usageText } from './summary.ts';
import { workspaceOfRow } from './workspaces.ts';

/** `show`: paths are relative to `root`. */
export function itemLines(
  root: string,
  { shift, metadata, tasks, workspace, ...row }: ItemReport,
  now: number,
): string[] {
  return [
    `${shift}, ${rowName(row)}`,
    ...Object.entries(metadata).map(([column, value]) => `  ${printable(column)}: ${oneLine(value)}`),
    ...(workspace === undefined ? [] : workspaceOfRow(workspace)),
    ...tasks.flatMap((each) => taskLines(root, each, now)),
  ];
}

function taskLines(
  root: string,
  { task, status, worker, usage, captured = {}, failure, transcripts, ...past }: ItemTask,
  now: number,
): string[] {
  const spent = usage && usageText(usage);
  return [
    `${task}: ${status}${workerText(worker)}`,
    ...sessionLines(past, now),
    ...(spent === undefined ? [] : [`  spent: ${spent}`]),
    ...Object.entries(captured).map(([name, value]) => `  captured ${printable(name)}=${oneLine(value)}`),
    ...(status === 'failed' ? [`  why: ${indented(failure ?? 'no reason was recorded')}`] : []),
    ...transcripts.map((file) => `  transcript: ${file.replace(`${root}/`, '')}`),
  ];
}

function sessionLines({ attempts = [], dev, qa }: Pick<ItemTask, 'attempts' | 'dev' | 'qa'>, now: number): string[] {
  const lines = attempts.map(({ number, status, reason, worker }) => {
    return `  attempt ${number}${workerText(worker)}: ${reason === undefined ? status : indented(reason)}`;
  });
  if (dev) {
    const took = `${dev.status} in ${formatDuration(dev.ms)}`;
    lines.push(`  dev${workerText(dev.worker)}: ${took}, ${localTime(dev.at, now)}${modelText(dev)}`);
  }
  if (!qa) return lines;
  lines.push(`  qa${workerText(qa.worker)}: ${qa.status}, ${localTime(qa.at, now)}${modelText(qa)}`);
  for (const { criterion, status, reason, checked } of qa.verdicts) {
    const why = reason === undefined ? '' : `: ${oneLine(reason, 1000)}`;
    lines.push(`    ${status}${checked ? ' (check)' : ''} ${oneLine(criterion, 120)}${why}`);
  }
  return lines;
}

function indented(text: string): string {
  return printable(text).trim().replaceAll('\n', '\n    ');
}

function modelText({ model }: { model?: string }): string {
  return model === undefined ? '' : `, model ${oneLine(model)}`;
}
