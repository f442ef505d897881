import { exportTarget, type Results, readResults, writeExport } from '../../app/export-results.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { count } from '../../core/text/count.ts';
import { exportCsv, exportJsonl, exportMarkdown } from '../../views/export.ts';
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
  const pieces = encode(linesOf(format, results, options.raw === true, paths.name));
  if (target === undefined) {
    for (const piece of pieces) io.send(piece);
    return EXIT.done;
  }
  await writeExport(target, pieces);
  if (options.json) io.print(JSON.stringify({ shift: paths.name, file: target, format, results: results.count }));
  else io.print(`${count(results.count, 'item-task')} of ${paths.name} in ${target}`);
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

function linesOf(format: Format, { results, columns }: Results, raw: boolean, title: string): Iterable<string> {
  if (format === 'csv') return exportCsv(results, columns, raw);
  return format === 'jsonl' ? exportJsonl(results) : exportMarkdown(results, columns, title);
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
