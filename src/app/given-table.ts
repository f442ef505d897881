import { realpath } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { NightshiftError } from '../core/model/errors.ts';
import { parseTable, type Table } from '../formats/table.ts';
import { findRoot } from '../store/folder/layout.ts';
import { readItems } from '../store/folder/new-shift.ts';
import type { World } from './world.ts';

type Place = Pick<World, 'cwd'>;

/** A table as text or as a file of the project; at most one of them. */
export interface GivenItems {
  readonly csv?: string | undefined;
  readonly file?: string | undefined;
}

/** For callers that may not read every file: only .csv files, and only those inside the project. */
export async function readGivenItems(place: Place, { csv, file }: GivenItems): Promise<Table | undefined> {
  if (csv !== undefined && file !== undefined) {
    throw new NightshiftError('usage', 'both csv and file are given', 'leave one of them out');
  }
  if (csv !== undefined) return parseTable(Buffer.from(csv), 'csv');
  return file === undefined ? undefined : (await readItems(await insideProject(place, file))).table;
}

async function insideProject({ cwd }: Place, file: string): Promise<string> {
  const root = await realpath(findRoot(cwd) ?? cwd);
  const named = resolve(cwd, file);
  const real = await realpath(named).catch(() => named);
  const way = relative(root, real);
  if (way !== '..' && !way.startsWith('../') && /\.csv$/i.test(real)) return real;
  const hint = 'give a .csv file inside the project, or the text itself as csv';
  throw new NightshiftError('usage', `${file} is not a .csv file below ${root}`, hint);
}
