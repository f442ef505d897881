import { exportTarget, type Results, readResults, writeExport } from '../../app/export-results.ts';
import type { ShiftPaths } from '../../app/find-shift.ts';
import { readStatus } from '../../app/status.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { count } from '../../core/text/count.ts';
import {
  byRow,
  exportCsv,
  exportJsonl,
  exportMarkdown,
  exportWideJsonl,
  sheetOf,
  wideSheetOf,
} from '../../views/export.ts';
import { markdownSummary } from '../../views/markdown-summary.ts';
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
  const { lines, what, json } = options.summary
    ? await summaryOf(io, paths)
    : await resultsOf(io, paths, format, options);
  const pieces = encode(lines);
  if (target === undefined) {
    for (const piece of pieces) io.send(piece);
    return EXIT.done;
  }
  await writeExport(target, pieces);
  if (options.json) io.print(JSON.stringify({ shift: paths.name, file: target, format, ...json }));
  else io.print(`${what} of ${paths.name} in ${target}`);
  return EXIT.done;
}

/** What is written, and how it is reported in words and as JSON. */
interface Content {
  readonly lines: Iterable<string>;
  readonly what: string;
  readonly json: object;
}

async function summaryOf(io: Io, paths: ShiftPaths): Promise<Content> {
  const { status } = await readStatus(paths, io);
  return { lines: markdownSummary(status), what: 'summary', json: { summary: true } };
}

async function resultsOf(io: Io, paths: ShiftPaths, format: Format, { wide, raw }: Options): Promise<Content> {
  const results = await readResults(io, paths);
  const number = wide ? results.rows : results.count;
  return {
    lines: linesOf(format, results, { wide: wide === true, raw: raw === true, title: paths.name }),
    what: count(number, wide ? 'row' : 'item-task'),
    json: { results: number },
  };
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
  if (options.summary && format !== 'md') {
    throw new NightshiftError('usage', '--summary applies only to --md', 'write `--md FILE --summary`');
  }
  if (options.summary && options.wide) {
    throw new NightshiftError('usage', '--summary has no rows, so --wide does not apply', 'leave one of them out');
  }
  return { format, file };
}

interface Form {
  readonly wide: boolean;
  readonly raw: boolean;
  readonly title: string;
}

function linesOf(format: Format, { results, columns, tasks }: Results, { wide, raw, title }: Form): Iterable<string> {
  if (format === 'jsonl') return wide ? exportWideJsonl(byRow(results)) : exportJsonl(results);
  const sheet = wide ? wideSheetOf(byRow(results), columns, tasks) : sheetOf(results, columns);
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
