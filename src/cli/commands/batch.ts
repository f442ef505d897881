import { closeBatch } from '../../app/batch/close.ts';
import { openBatch } from '../../app/batch/open.ts';
import { findShift, type ShiftPaths } from '../../app/find-shift.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { nearest } from '../../core/model/names.ts';
import { closedLines, closedWarnings, openedLines } from '../../views/batch.ts';
import { plainLines } from '../../views/plain.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

const VERBS = ['open', 'close'];

/** Opens or closes a batch whose agents are started by another program (rules O3, O5). */
export async function run(io: Io, [verb = '', name = '']: readonly string[], options: Options): Promise<number> {
  if (!VERBS.includes(verb)) {
    const near = nearest(verb, VERBS);
    const hint = near
      ? `did you mean ${near}?`
      : 'write `nightshift batch open SHIFT` or `nightshift batch close SHIFT`';
    throw new NightshiftError('usage', `batch does not know ${JSON.stringify(verb)}`, hint);
  }
  const paths = findShift(io, name);
  return await (verb === 'open' ? open(io, paths, options) : close(io, paths, options));
}

async function open(io: Io, paths: ShiftPaths, { takeOver, json }: Options): Promise<number> {
  const result = await openBatch(io, paths, { takeOver, onEvent: (event) => warnOfEdit(io, event) });
  if (!('isLimit' in result)) {
    const { notes, ...opened } = result;
    if (json) io.print(JSON.stringify({ left: true, ...opened, ...(notes.length > 0 ? { notes } : {}) }));
    else for (const line of openedLines(paths.name, result)) io.print(line);
    return EXIT.done;
  }
  if (result.isLimit) {
    const reason = `no batch was opened: ${result.reason}; raise it in manager.md`;
    if (json) io.print(JSON.stringify({ left: true, reason }));
    else io.warn(reason);
    return EXIT.stopped;
  }
  const { reason, exitCode } = result;
  io.print(json ? JSON.stringify({ left: false, reason }) : `Nothing is left to do: ${reason}.`);
  return exitCode;
}

async function close(io: Io, paths: ShiftPaths, { giveBack, usage, json }: Options): Promise<number> {
  const closed = await closeBatch(io, paths, { giveBack, usage, onEvent: (event) => warnOfEdit(io, event) });
  for (const line of closedWarnings(closed)) io.warn(line);
  if (json) {
    const { progress, left, done, failed, returned, compacted, changed, lessons } = closed;
    const more = { ...(changed.length > 0 && { changed }), ...(lessons.length > 0 && { lessons }) };
    io.print(JSON.stringify({ progress, left, done, failed, returned, compacted, ...more }));
  } else for (const line of closedLines(paths.name, closed)) io.print(line);
  return EXIT.done;
}

function warnOfEdit(io: Io, event: NightshiftEvent): void {
  if (event.type === 'edit:reverted') for (const line of plainLines(event)) io.warn(line);
}
