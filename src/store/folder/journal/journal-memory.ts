import type { NightshiftEvent } from '../../../core/model/events.ts';
import type { OnSetAside } from '../files/inside.ts';

/** Who knows what the journal says, and can say it again. */
export interface JournalMemory {
  readonly run: string;
  /** Whether the journal may be continued in a new file: only the one run of a shift does that. */
  readonly mayRotate: boolean;
  /** A line of the journal as it was opened. */
  read(value: unknown, isFirst: boolean): void;
  /** An event that another process has appended since. */
  heard(event: NightshiftEvent): void;
  /** All that is known, with everything that was appended so far. */
  checkpoint(): Iterable<object>;
  /** Somebody damaged the journal; what is known was written again. */
  lost(what: string): void;
  readonly setAside: OnSetAside;
}
