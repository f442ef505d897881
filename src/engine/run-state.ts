import type { Emit, NightshiftEvent } from '../core/events.ts';
import type { History } from '../core/history.ts';
import type { Again } from '../core/limits.ts';
import type { Trouble } from '../core/model.ts';
import type { Selection } from '../core/plan.ts';
import type { Shift } from '../core/shift.ts';
import type { Documents } from '../store/documents.ts';
import type { Snapshot, Store } from '../store/store.ts';
import type { Folders } from '../watch/folders.ts';
import type { perform } from './item.ts';
import type { Agents, Checks } from './parts.ts';

/** How a run is asked to end. */
export interface Stop {
  /** Nothing new is started; what runs is finished. */
  readonly drain: AbortSignal;
  /** What runs is ended now and given back. */
  readonly now: AbortSignal;
}

/** What a run is built from; `cli` builds the concrete parts. */
export interface RunParts {
  readonly store: Store;
  readonly documents: Documents;
  /** Reads and checks everything that people may have edited (rule M1). */
  load(): Promise<Shift>;
  agents(shift: Shift): Agents;
  readonly check: Checks['run'];
  /** Who works and who judges where. */
  readonly folders: Pick<Folders, 'enter' | 'watch'>;
  /** Carries an order out: here, or on another machine. */
  readonly perform: typeof perform;
  readonly emit: Emit;
  /** Calls back after each event, whoever told it. */
  listen(listener: (event: NightshiftEvent) => void): void;
  /** Items that were begun and have not ended. */
  inFlight(): number;
  /** The command that would start this run again; absent: of the whole shift. */
  readonly again?: Again;
  /** What of the command line goes on with it, as `--name=value`. */
  readonly flags?: readonly string[];
  /** Resolves when every event so far is durable. */
  flush(): Promise<void>;
  /** Throws if an event could not be kept. */
  checkKept(): void;
  readonly history: History;
  /** What the manager's agent was asked last, by task: the same question is not paid for twice. */
  readonly asked: Map<string, string>;
  readonly stop: Stop;
  select(snapshot: Snapshot): Selection;
  /** Ends processes of an earlier run of this shift that outlived it; answers how many there were. */
  endLeftovers(): Promise<number>;
  now(): number;
}

/** How a run ended. */
export interface RunEnd {
  readonly exitCode: number;
  readonly reason: string;
  /** The reason says how to go on; a plain start would not. */
  readonly isLimit?: boolean;
}

/** What became of the items of a batch. `trouble`: why items were given back, if it was not their fault. */
export interface BatchEnd {
  readonly done: number;
  readonly failed: number;
  readonly returned: number;
  readonly compacted: boolean;
  readonly trouble?: Trouble;
}

export const NOTHING: BatchEnd = { done: 0, failed: 0, returned: 0, compacted: false };
