import type { Usage } from '../model/model.ts';
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
  /** The flags of its command line, as `--name=value`. */
  readonly flags?: readonly string[];
  /** Absent for `start`. */
  readonly command?: 'retry';
  /** The time of its last event. */
  lastAt: string;
  usage: Usage;
  edits?: readonly PutBackEdit[] | undefined;
  /** `error`: the code of the error that ended it. */
  end?: { readonly exitCode: number; readonly reason: string; readonly error?: string; readonly notBefore?: string };
}
