import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlState } from '../core/model/control.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { ControlFile } from '../store/folder/control-file.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import type { Holder } from '../store/folder/run-lock.ts';
import { isRunning } from './run/follow-run.ts';

const LOOK_EVERY_MS = 50;
/** A run obeys within a second. One that reads a table of a million rows does nothing else for some seconds. */
const ANSWER_WITHIN_MS = 15_000;

/**
 * Waits until a run obeys a request in the control file and returns what it obeys then; undefined if it has ended. A
 * run that does not react is an error whose hint says what to do.
 */
export async function untilObeyed(
  paths: ShiftPaths,
  holder: Holder,
  isObeyed: (state: ControlState) => boolean,
  within = ANSWER_WITHIN_MS,
): Promise<ControlState | undefined> {
  const file = new ControlFile(paths);
  for (let waited = 0; waited < within; waited += LOOK_EVERY_MS) {
    const state = file.state();
    if (state?.run === holder.run && isObeyed(state)) return state;
    if (!isRunning(paths, holder.run)) return undefined;
    await sleep(LOOK_EVERY_MS);
  }
  throw notObeyed(holder, within);
}

function notObeyed({ pid }: Holder, within: number): NightshiftError {
  const seconds = within / 1000;
  return new NightshiftError(
    'no-answer',
    `process ${pid} has not answered for ${seconds} seconds: it is suspended, hangs, or is of an older version`,
    `the request stands: \`kill -CONT ${pid}\` wakes a suspended process. \`kill -INT ${pid}\` stops it without the file; ` +
      `\`kill -9 ${pid}\` always does, and the next start gives its items back`,
  );
}
