import { basename, extname } from 'node:path';
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
  /** Why there are none, if so. */
  readonly none: string;
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
    return { table, none: `no file matches ${glob}`, name: shiftNameOf(glob) ?? FALLBACK_NAME, leftOut };
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
    return { table, none: 'standard input has no items', name: FALLBACK_NAME, leftOut: 0 };
  }
  const { table } = await readItemsFile(world, file);
  const name = shiftNameOf(basename(file, extname(file))) ?? FALLBACK_NAME;
  return { table, none: `${file} has no rows`, name, leftOut: 0 };
}
