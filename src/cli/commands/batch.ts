import { closeBatch } from '../../app/batch/close.ts';
import { openBatch } from '../../app/batch/open.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { nearest } from '../../core/model/names.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import { openShift } from '../../store/folder/layout.ts';
import { takeRunLock } from '../../store/folder/run-lock.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

const VERBS = ['open', 'close'];

/** The deterministic parts of a batch, for whoever starts the agents themselves (rules O3, O5). */
export async function run(io: Io, [verb = '', name = '']: readonly string[], options: Options): Promise<number> {
  if (!VERBS.includes(verb)) {
    const near = nearest(verb, VERBS);
    const hint = near
      ? `did you mean ${near}?`
      : 'write `nightshift batch open SHIFT` or `nightshift batch close SHIFT`';
    throw new NightshiftError('usage', `batch does not know ${JSON.stringify(verb)}`, hint);
  }
  const paths = openShift(requireRoot(io), name);
  await new ShiftFiles(paths).prepare();
  const since = new Date(io.now()).toISOString();
  using _lock = await takeRunLock(paths, { pid: process.pid, since, run: `batch ${verb}` });
  return await (verb === 'open' ? openBatch(io, paths, options) : closeBatch(io, paths, options));
}
