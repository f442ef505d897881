import { exportTarget, type Results, readResults, writeExport } from '../../app/export-results.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { count } from '../../core/text/count.ts';
import { exportCsv, exportJsonl, exportMarkdown, exportWideJsonl, sheetOf, wideSheetOf } from '../../views/export.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

const FORMATS = ['csv', 'jsonl', 'md'] as const;
type Format = (typeof FORMATS)[number];
/** Lines are encoded in pieces of about this size, so that a table of any length fits. */
const PIECE = 1 << 20;

export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const { format, file } = readTarget(options);
  const paths = await chooseShift(io, name);
  const target = file === '-' ? undefined : exportTarget(io, file);
  const results = await readResults(io, paths);
  const { wide, raw } = options;
  const number = wide ? results.rows : results.count;
  const pieces = encode(linesOf(format, results, { wide: wide === true, raw: raw === true, title: paths.name }));
  if (target === undefined) {
    for (const piece of pieces) io.send(piece);
    return EXIT.done;
  }
  await writeExport(target, pieces);
  if (options.json) io.print(JSON.stringify({ shift: paths.name, file: target, format, results: number }));
  else io.print(`${count(number, wide ? 'row' : 'item-task')} of ${paths.name} in ${target}`);
  return EXIT.done;
}

function readTarget(options: Options): { format: Format; file: string } {
  const given = FORMATS.filter((format) => options[format] !== undefined);
  const [format] = given;
  if (format === undefined || given.length > 1) {
    const hint = 'for example `nightshift export --csv results.csv`; `-` is standard output';
    throw new NightshiftError('usage', 'export needs one of --csv, --jsonl and --md, each with a file', hint);
  }
  const file: string = options[format];
  if (file === '-' && options.json) {
    throw new NightshiftError('usage', '--json and the file `-` both want standard output', 'leave one of them out');
  }
  if (options.raw && format !== 'csv') {
    throw new NightshiftError('usage', '--raw applies only to --csv', 'leave it out');
  }
  return { format, file };
}

interface Form {
  readonly wide: boolean;
  readonly raw: boolean;
  readonly title: string;
}

function linesOf(format: Format, given: Results, { wide, raw, title }: Form): Iterable<string> {
  const { results, byRow, columns, tasks } = given;
  if (format === 'jsonl') return wide ? exportWideJsonl(byRow) : exportJsonl(results);
  const sheet = wide ? wideSheetOf(byRow, columns, tasks) : sheetOf(results, columns);
  return format === 'csv' ? exportCsv(sheet, raw) : exportMarkdown(sheet, title);
}

function* encode(lines: Iterable<string>): Generator<Buffer> {
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < PIECE) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}
