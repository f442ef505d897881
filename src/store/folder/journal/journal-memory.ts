import type { NightshiftEvent } from '../../../core/model/events.ts';
import type { OnSetAside } from '../files/inside.ts';

/** Knows what the journal says, and can write it again. */
export interface JournalMemory {
  readonly run: string;
  /** Whether the journal may continue in a new file. Only the run of a shift does that. */
  readonly mayRotate: boolean;
  /** A line of the journal when it was opened. */
  read(value: unknown, isFirst: boolean): void;
  /** An event that another process has appended since. */
  heard(event: NightshiftEvent): void;
  /** Everything known, including all events appended so far. */
  checkpoint(): Iterable<object>;
  /** The journal was damaged, and everything known was written again. */
  lost(what: string): void;
  readonly setAside: OnSetAside;
}
