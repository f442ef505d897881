import type { Usage } from '../model/model.ts';
import type { PutBackEdit } from './put-back-edits.ts';

/**
 * The latest run of a shift. `end` is absent while it goes on, and for ever if it was killed, or ended by an error that
 * kept the journal from being written.
 */
export interface LastRun {
  readonly run: string;
  /** How many runs there were, with this one. */
  readonly number: number;
  readonly startedAt: string;
  /** With which it was started, as `--name=value`. */
  readonly flags?: readonly string[];
  /** Absent: `start`. */
  readonly command?: 'retry';
  /** Of its last event. */
  lastAt: string;
  usage: Usage;
  edits?: readonly PutBackEdit[] | undefined;
  /** `error`: the code of the one that ended it. */
  end?: { readonly exitCode: number; readonly reason: string; readonly error?: string; readonly notBefore?: string };
}
