import { existsSync } from 'node:fs';
import { findTask } from '../../app/find-task.ts';
import { readDetails, readHistory } from '../../app/history.ts';
import { openAndCheck } from '../../app/open-shift.ts';
import { parseRow } from '../../app/rows.ts';
import type { ItemHistory } from '../../core/folds/history.ts';
import type { ItemDetails } from '../../core/folds/item-details.ts';
import { formatDuration } from '../../core/model/duration.ts';
import { EXIT } from '../../core/model/errors.ts';
import { itemKey } from '../../core/model/identity.ts';
import { statusAt } from '../../core/schedule/plan.ts';
import { openShift } from '../../store/folder/layout.ts';
import { oneLine, printable } from '../../views/printable.ts';
import { usageText } from '../../views/summary.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '', row = '', only]: readonly string[], options: Options): Promise<number> {
  const shown = await describeRow(io, name, row, only);
  if (options.json) io.print(JSON.stringify(shown));
  else for (const line of rowLines(requireRoot(io), shown)) io.print(line);
  return EXIT.done;
}

type Known = Partial<ItemDetails & Pick<ItemHistory, 'captured' | 'usage' | 'failure'>>;
type ShownTask = Known & { task: string; status: string; transcripts: string[] };

interface ShownRow {
  readonly shift: string;
  /** 1-based. */
  readonly row: number;
  readonly index: number;
  readonly item: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tasks: readonly ShownTask[];
}

/** All that is known of one row (1-based), or of one task of it. */
export async function describeRow(io: Io, name: string, row: string, only?: string): Promise<ShownRow> {
  const paths = openShift(requireRoot(io), name);
  const { shift, snapshot } = await openAndCheck(paths);
  const index = parseRow(row, snapshot.count);
  const history = await readHistory(paths, io);
  const id = snapshot.id(index);
  const names = only === undefined ? snapshot.tasks : [findTask(shift, only).name];
  const details = await readDetails(paths, id, names, history);
  const tasks = names.map((task) => {
    const past = known(history.of(task, id), details.get(task));
    const key = itemKey(shift.identity, task, id);
    return {
      task,
      status: statusAt(snapshot, index, snapshot.tasks.indexOf(task)),
      key,
      ...past,
      transcripts: ['dev', 'qa'].map((role) => paths.transcript(task, key, role)).filter((file) => existsSync(file)),
    };
  });
  return { shift: name, row: index + 1, index, item: id, metadata: snapshot.metadata(index), tasks };
}

/** Why it failed is kept in short; the journal has it in full. */
function known(past: ItemHistory | undefined, details: ItemDetails | undefined): Known {
  if (!past) return {};
  const { captured, usage, failure } = past;
  const reasons = [details?.qa?.reason, details?.dev?.reason];
  const full = reasons.find((reason) => reason?.startsWith(failure?.slice(0, -1) ?? '')) ?? failure;
  return { ...details, captured, usage, ...(failure === undefined || full === undefined ? {} : { failure: full }) };
}

export function rowLines(root: string, { shift, row, metadata, tasks }: ShownRow): string[] {
  return [
    `${shift}, row ${row}`,
    ...Object.entries(metadata).map(([column, value]) => `  ${printable(column)}: ${oneLine(value)}`),
    ...tasks.flatMap((each) => taskLines(root, each)),
  ];
}

function taskLines(
  root: string,
  { task, status, attempts = [], dev, qa, captured = {}, usage, failure, transcripts }: ShownTask,
): string[] {
  const lines = [`${task}: ${status}`];
  for (const { number, status: end, reason } of attempts) {
    lines.push(
      `  attempt ${number}: ${reason === undefined ? end : printable(reason).trim().replaceAll('\n', '\n    ')}`,
    );
  }
  if (dev) lines.push(`  dev: ${dev.status} in ${formatDuration(dev.ms)}, ${dev.at}${modelText(dev)}`);
  if (qa) {
    lines.push(`  qa: ${qa.status}, ${qa.at}${modelText(qa)}`);
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
  for (const file of transcripts) lines.push(`  transcript: ${file.replace(`${root}/`, '')}`);
  return lines;
}

function modelText({ model }: { model?: string }): string {
  return model === undefined ? '' : `, model ${oneLine(model)}`;
}
