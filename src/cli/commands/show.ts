import { existsSync } from 'node:fs';
import { formatDuration } from '../../core/duration.ts';
import { EXIT } from '../../core/errors.ts';
import type { ItemHistory } from '../../core/history.ts';
import { itemKey } from '../../core/identity.ts';
import { statusAt } from '../../core/plan.ts';
import { openShift, type ShiftPaths } from '../../store/layout.ts';
import { oneLine, printable } from '../../views/printable.ts';
import { usageText } from '../../views/summary.ts';
import { requireRoot } from '../choose-shift.ts';
import { findTask } from '../find-task.ts';
import { readHistory } from '../history.ts';
import type { Io } from '../io.ts';
import { openAndCheck } from '../open-shift.ts';
import type { Options } from '../program.ts';
import { parseRow } from '../rows.ts';

export async function run(io: Io, [name = '', row = '', only]: readonly string[], options: Options): Promise<number> {
  const paths = openShift(requireRoot(io), name);
  const { shift, snapshot } = await openAndCheck(paths);
  const index = parseRow(row, snapshot.count);
  const history = await readHistory(paths);
  const id = snapshot.id(index);
  const names = only === undefined ? snapshot.tasks : [findTask(shift, only).name];
  const tasks = names.map((task) => {
    const past = history.of(task, id);
    const key = itemKey(shift.identity, task, id);
    return {
      task,
      status: statusAt(snapshot, index, snapshot.tasks.indexOf(task)),
      key,
      ...past,
      transcripts: ['dev', 'qa'].map((role) => paths.transcript(task, key, role)).filter((file) => existsSync(file)),
    };
  });
  const metadata = snapshot.metadata(index);
  if (options.json) {
    io.print(JSON.stringify({ shift: name, row: index + 1, index, item: id, metadata, tasks }));
    return EXIT.done;
  }
  io.print(`${name}, row ${index + 1}`);
  for (const [column, value] of Object.entries(metadata)) io.print(`  ${printable(column)}: ${oneLine(value)}`);
  for (const each of tasks) for (const line of taskLines(paths, each)) io.print(line);
  return EXIT.done;
}

function taskLines(
  paths: ShiftPaths,
  {
    task,
    status,
    attempts = [],
    dev,
    qa,
    captured = {},
    usage,
    failure,
    transcripts,
  }: Partial<ItemHistory> & {
    task: string;
    status: string;
    transcripts: string[];
  },
): string[] {
  const lines = [`${task}: ${status}`];
  for (const { number, status: end, reason } of attempts) {
    lines.push(
      `  attempt ${number}: ${reason === undefined ? end : printable(reason).trim().replaceAll('\n', '\n    ')}`,
    );
  }
  if (dev) lines.push(`  dev: ${dev.status} in ${formatDuration(dev.ms)}, ${dev.at}`);
  if (qa) {
    lines.push(`  qa: ${qa.status}, ${qa.at}`);
    for (const { criterion, status: verdict, reason, checked } of qa.verdicts) {
      const by = checked ? ' (check)' : '';
      lines.push(
        `    ${verdict}${by} ${oneLine(criterion, 120)}${reason === undefined ? '' : `: ${oneLine(reason, 1000)}`}`,
      );
    }
  }
  const spent = usage && usageText(usage);
  if (spent !== undefined) lines.push(`  spent: ${spent}`);
  for (const [name, value] of Object.entries(captured)) lines.push(`  captured ${printable(name)}=${oneLine(value)}`);
  if (status === 'failed')
    lines.push(
      `  why: ${printable(failure ?? 'no reason was recorded')
        .trim()
        .replaceAll('\n', '\n    ')}`,
    );
  for (const file of transcripts) lines.push(`  transcript: ${file.replace(`${paths.root}/`, '')}`);
  return lines;
}
