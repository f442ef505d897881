import type { NightshiftEvent } from '../model/events.ts';
import type { Usage } from '../model/model.ts';
import { isWholeShift, readSelection, type Selection } from '../schedule/selection.ts';
import type { PutBackEdit } from './put-back-edits.ts';

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
