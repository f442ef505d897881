import type { Emit } from '../../../core/model/events.ts';
import type { ShiftDocuments } from '../../../formats/compile.ts';
import type { InForceRecord } from './in-force-record.ts';

export interface InForceOptions {
  readonly emit: Emit;
  /** Throws a NightshiftError if a run can't work with these documents. */
  check(documents: ShiftDocuments): Promise<void>;
  now(): number;
  /** For a single command: you asked for what it writes, and it waits for nothing. */
  readonly isByHand?: boolean;
  /** Files that agents have open for writing, with the keys of their items. Absent if unknown. */
  writers?(): ReadonlyMap<string, ReadonlySet<string>>;
  /** Absent: nothing is recorded, and what is in force ends with this process. */
  readonly record?: InForceRecord;
}
