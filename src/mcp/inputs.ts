import { realpath } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { z } from 'zod';
import type { Io } from '../cli/io.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { parseTable, type Table } from '../formats/table.ts';
import { findRoot } from '../store/folder/layout.ts';
import { readItems } from '../store/folder/new-shift.ts';

export const shift = z.string().describe('the name of the shift, in kebab-case');
export const task = z.string().describe('the name of the task, in snake_case');
export const row = z.int().min(1).describe('1-based');

/** A table, as text or as a file. */
export const items = {
  csv: z.string().optional().describe('CSV (RFC 4180) with a header line'),
  file: z.string().optional().describe('instead of csv: a .csv file inside the project'),
};

interface GivenItems {
  readonly csv?: string | undefined;
  readonly file?: string | undefined;
}

export async function readGiven(io: Io, { csv, file }: GivenItems): Promise<Table | undefined> {
  if (csv !== undefined && file !== undefined) {
    throw new NightshiftError('usage', 'both csv and file are given', 'leave one of them out');
  }
  if (csv !== undefined) return parseTable(Buffer.from(csv), 'csv');
  return file === undefined ? undefined : readItems(await insideProject(io, file));
}

/** Only tables, and only the project's: a client that may call this tool need not be one that may read every file. */
async function insideProject(io: Io, file: string): Promise<string> {
  const root = await realpath(findRoot(io.cwd) ?? io.cwd);
  const named = resolve(io.cwd, file);
  const real = await realpath(named).catch(() => named);
  const way = relative(root, real);
  if (way !== '..' && !way.startsWith('../') && /\.csv$/i.test(real)) return real;
  const hint = 'give a .csv file inside the project, or the text itself as csv';
  throw new NightshiftError('usage', `${file} is not a .csv file below ${root}`, hint);
}
