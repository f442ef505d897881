import type { NightshiftEvent } from '../model/events.ts';
import type { Usage } from '../model/model.ts';
import { sum } from '../model/usage.ts';
import { isWholeShift, readSelection, type Selection } from '../schedule/selection.ts';
import { copyOf } from '../text/short-copy.ts';
import { type PutBackEdit, withEdit } from './put-back-edits.ts';

/**
 * The latest run of a shift. `end` is absent while it runs, and stays absent if it was killed, or if an error kept it
 * from writing the journal.
 */
export interface LastRun {
  readonly run: string;
  /** How many runs there were, including this one. */
  readonly number: number;
  readonly startedAt: string;
  /** What it covered, without the items of a retry; absent: the whole shift, or an older journal. */
  readonly selection?: Omit<Selection, 'items'>;
  /** The flags of its command line, as `--name=value`. */
  readonly flags?: readonly string[];
  /** Absent for `start`. */
  readonly command?: 'retry';
  /** The time of its last event. */
  lastAt: string;
  usage: Usage;
  edits?: readonly PutBackEdit[] | undefined;
  /** In a fleet: what it waits for, because no worker fits. */
  waitingFor?: string;
  /** `error`: the code of the error that ended it. `left`: how many orders it left with the workers of a fleet. */
  end?: {
    readonly exitCode: number;
    readonly reason: string;
    readonly error?: string;
    readonly notBefore?: string;
    readonly left?: number;
  };
}

/** How a run was asked for. The items of a retry may be many, and stay in the journal. */
export function requestIn(
  event: Extract<NightshiftEvent, { type: 'run:started' }>,
): Pick<LastRun, 'selection' | 'flags' | 'command'> {
  const { items: _, ...selection } = readSelection(event.selection) ?? {};
  return {
    ...(isWholeShift(selection) ? {} : { selection }),
    ...(event.flags ? { flags: event.flags } : {}),
    ...(event.command === 'retry' ? { command: event.command } : {}),
  };
}

/** An event of this run. */
export function noteInRun(last: LastRun, event: NightshiftEvent): void {
  last.lastAt = event.at;
  switch (event.type) {
    case 'usage:spent':
      last.usage = sum(last.usage, event.usage);
      return;
    case 'edit:reverted':
      last.edits = withEdit(last.edits, event);
      return;
    case 'fleet:waiting':
      last.waitingFor = copyOf(event.reason);
      return;
    case 'fleet:ready':
      delete last.waitingFor;
      return;
    case 'run:finished': {
      delete last.waitingFor;
      const { exitCode, reason, error, notBefore, left } = event;
      const more = Object.entries({ error, notBefore, left }).filter(([, value]) => value !== undefined);
      last.end = { exitCode, reason: copyOf(reason), ...Object.fromEntries(more) };
    }
  }
}
