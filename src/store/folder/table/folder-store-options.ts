import type { Emit } from '../../../core/model/events.ts';
import type { Failpoint } from '../files/atomic-write.ts';
import type { ReadingLockOptions } from './reading-lock.ts';

export interface FolderStoreOptions extends ReadingLockOptions {
  readonly table: string;
  readonly journal: string;
  /** What ids are derived from since columns were changed. */
  readonly identity: string;
  readonly tasks: readonly string[];
  /** The columns that a task fills, by task. */
  readonly outputs: ReadonlyMap<string, readonly string[]>;
  readonly emit: Emit;
  readonly failpoint?: Failpoint;
  /** One of several commands that write statuses at the same time, not a run: writes by others count. */
  readonly isShared?: boolean;
}
