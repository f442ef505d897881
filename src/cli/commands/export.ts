import { exportTarget, type Results, readResults, writeExport } from '../../app/export-results.ts';
import type { ShiftPaths } from '../../app/find-shift.ts';
import { readStatus } from '../../app/status.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { count } from '../../core/text/count.ts';
import { exportCsv, exportJsonl, exportMarkdown } from '../../views/export.ts';
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
    : await resultsOf(io, paths, format, options.raw === true);
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

async function resultsOf(io: Io, paths: ShiftPaths, format: Format, raw: boolean): Promise<Content> {
  const results = await readResults(io, paths);
  const what = count(results.count, 'item-task');
  return { lines: linesOf(format, results, raw, paths.name), what, json: { results: results.count } };
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
