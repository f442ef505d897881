import type { Emit } from '../../../core/model/events.ts';
import type { ShiftDocuments } from '../../../formats/compile.ts';
import type { InForceRecord } from './in-force-record.ts';

export interface InForceOptions {
  readonly emit: Emit;
  /** Throws a NightshiftError if a run can't work with these documents. */
  check(documents: ShiftDocuments): Promise<void>;
  now(): number;
  /** For one command: what it writes a person asked for, and nothing is waited for. */
  readonly isByHand?: boolean;
  /** Files that agents have open for writing, with the keys of their items; absent where that can't be known. */
  writers?(): ReadonlyMap<string, ReadonlySet<string>>;
  /** Absent: what is in force ends with this process. */
  readonly record?: InForceRecord;
}
