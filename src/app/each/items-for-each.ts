import { stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { shiftNameOf } from '../../core/model/names.ts';
import { parseItems } from '../../formats/items/items.ts';
import { createTable, type Table } from '../../formats/table.ts';
import { readItemsFile } from '../item-source.ts';
import type { World } from '../world.ts';
import { globFiles } from './glob-files.ts';
import { withoutResults } from './results.ts';

/** The items of `nightshift each`, and what to call them. */
export interface EachItems {
  readonly table: Table;
  /** Why there are none, if so, and what to do then. */
  readonly none: string;
  readonly hint: string;
  /** The name of the shift, unless you give one: the same for the same source. */
  readonly name: string;
  /** How many files match the pattern, but are results of others. */
  readonly leftOut: number;
}

export interface EachSource {
  /** A file, or `-` for standard input; more are a mistake. */
  readonly files: readonly string[];
  readonly glob?: string | undefined;
  /** What is asked: files that it makes of others are no items. */
  readonly texts: readonly string[];
  readonly readInput: () => Promise<Buffer | undefined>;
}

const STANDARD_INPUT = 'standard input';
const FALLBACK_NAME = 'items';
const NO_ROWS =
  "the first line has the column names, each line below it is an item; for files as items use --glob 'pages/*.md'";
const NO_FILES = 'check the pattern and the folder; wildcards skip hidden files and node_modules';

export async function readEachItems(world: World, { files, glob, texts, readInput }: EachSource): Promise<EachItems> {
  const [file, ...more] = files;
  if (glob !== undefined && file !== undefined) {
    const hint = "a pattern needs quotes, or your shell expands it: --glob 'pages/*.md'";
    throw new NightshiftError('usage', `both --glob and ${file} are given`, hint);
  }
  if (more.length > 0) {
    const hint = "give one table, or the files themselves as items: --glob 'pages/*.md'";
    throw new NightshiftError('usage', `several files are given: ${files.join(', ')}`, hint);
  }
  if (glob !== undefined) {
    const found = await globFiles(world.cwd, glob);
    const paths = withoutResults(found, texts);
    const table = createTable(
      ['path'],
      paths.map((path) => [path]),
    );
    const leftOut = found.length - paths.length;
    const name = shiftNameOf(glob) ?? FALLBACK_NAME;
    return { table, none: `no file matches ${glob}`, hint: NO_FILES, name, leftOut };
  }
  if (file === undefined) {
    const hint = "name a file, `-` for standard input, or --glob 'pages/*.md'";
    throw new NightshiftError('usage', 'no items are given', hint);
  }
  if (file === '-') {
    const bytes = await readInput();
    if (bytes === undefined) {
      const hint = 'pipe the items into it: gh issue list --json number | nightshift each - ...';
      throw new NightshiftError('usage', 'standard input is a terminal', hint);
    }
    const { table } = parseItems(bytes, STANDARD_INPUT);
    return { table, none: 'standard input has no items', hint: NO_ROWS, name: FALLBACK_NAME, leftOut: 0 };
  }
  await requireNoFiles(world, file);
  const { table } = await readItemsFile(world, file);
  const name = shiftNameOf(basename(file, extname(file))) ?? FALLBACK_NAME;
  return { table, none: `${file} has no rows`, hint: NO_ROWS, name, leftOut: 0 };
}

/** Throws for a folder or a quoted pattern where a table belongs: the files themselves are meant as items. */
async function requireNoFiles({ cwd }: World, file: string): Promise<void> {
  const found = await stat(resolve(cwd, file)).catch(() => undefined);
  if (found?.isDirectory()) {
    const hint = `for its files as items use --glob '${file.replace(/\/+$/, '')}/*'`;
    throw new NightshiftError('usage', `${file} is a folder, not a table`, hint);
  }
  if (found === undefined && /[*?{]/.test(file)) {
    throw new NightshiftError('usage', `there is no file ${file}`, `for files as items use --glob '${file}'`);
  }
}
