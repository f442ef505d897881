import { randomBytes } from 'node:crypto';
import { parseConditions, parseSample } from '../app/select-rows.ts';
import { parseRows, type Selection } from '../core/schedule/selection.ts';
import type { Options } from './program.ts';

/** What `--rows`, `--where`, `--sample` and `--task` choose. Throws for a value that can't be one. */
export function readSelectionFlags({ rows, where, sample, seed, task, items }: Options): Selection {
  if (rows !== undefined) parseRows(rows);
  return {
    ...{ task, rows, items, where: parseConditions(where) },
    sample: parseSample(sample, seed, () => randomBytes(4).toString('hex')),
  };
}
