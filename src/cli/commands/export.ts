import { lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { readHistory } from '../../app/history.ts';
import { openAndCheck } from '../../app/open-shift.ts';
import { type Result, resultsOf } from '../../core/folds/results.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { diskError, replaceFile } from '../../store/folder/files/atomic-write.ts';
import { findRoot, shiftsFolder } from '../../store/folder/layout.ts';
import { exportCsv, exportJsonl, exportMarkdown } from '../../views/export.ts';
import { count } from '../../views/plain.ts';
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
  const target = file === '-' ? undefined : checkTarget(resolve(io.cwd, file));
  const { snapshot } = await openAndCheck(paths);
  const columns = snapshot.header.filter((column) => !snapshot.tasks.includes(column));
  const results = resultsOf(snapshot, await readHistory(paths, io));
  const pieces = encode(linesOf(format, results, columns, options.raw === true, paths.name));
  if (target === undefined) {
    for (const piece of pieces) io.send(piece);
    return EXIT.done;
  }
  const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o666;
  await replaceFile(target, Buffer.concat([...pieces]), mode & 0o777);
  const lines = snapshot.count * snapshot.tasks.length;
  if (options.json) io.print(JSON.stringify({ shift: paths.name, file: target, format, results: lines }));
  else io.print(`${count(lines, 'item-task')} of ${paths.name} in ${target}`);
  return EXIT.done;
}

function linesOf(
  format: Format,
  results: Iterable<Result>,
  columns: readonly string[],
  raw: boolean,
  title: string,
): Iterable<string> {
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
    throw new NightshiftError('usage', '--raw is about formulas in CSV', 'leave it out');
  }
  return { format, file };
}

/** Never into a `.nightshift` folder, where the table is and what the engine keeps; never over what is not a file. */
function checkTarget(file: string): string {
  const target = realTarget(file);
  const root = findRoot(dirname(target));
  if (root !== undefined && !relative(shiftsFolder(root), target).startsWith('..')) {
    throw new NightshiftError(
      'usage',
      `${file} is in a .nightshift folder, where an export could replace what a shift needs`,
      'write it to another folder',
      { file },
    );
  }
  const found = lstatSync(target, { throwIfNoEntry: false });
  if (found && !found.isFile()) {
    const message = `${file} is not a file that can be replaced`;
    throw new NightshiftError('usage', message, 'name another one; `-` is standard output', { file });
  }
  return target;
}

/** Where a link leads is what would be replaced. */
function realTarget(file: string): string {
  try {
    if (lstatSync(file, { throwIfNoEntry: false })) return realpathSync.native(file);
    return join(realpathSync.native(dirname(file)), basename(file));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw diskError(cause, file);
    throw new NightshiftError('not-found', `there is no folder for ${file}`, 'make it first', { file });
  }
}
