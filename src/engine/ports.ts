import type { History } from '../core/folds/history.ts';
import type { Clock } from '../core/model/clock.ts';
import type { Emit, NightshiftEvent } from '../core/model/events.ts';
import type { Trouble } from '../core/model/model.ts';
import type { Protection } from '../core/model/protection.ts';
import type { Shift } from '../core/model/shift.ts';
import type { Selection as Scope } from '../core/schedule/plan.ts';
import type { Returns } from '../core/schedule/returns.ts';
import type { RunRequest } from '../core/schedule/run-request.ts';
import type { Selection } from '../core/schedule/selection.ts';
import type { Documents } from '../store/documents.ts';
import type { Snapshot, Store } from '../store/store.ts';
import type { Folders } from '../watch/folders.ts';
import type { RunControl } from './control.ts';
import type { perform } from './worker/worker.ts';
import type { Agents, Checks } from './worker/worker-ports.ts';

/** How the caller of a run asks it to end. */
export interface Stop {
  /** Nothing new is started; what runs is finished. */
  readonly drain: AbortSignal;
  /** What runs is ended now and given back. */
  readonly now: AbortSignal;
}

/** What a run is built from; `cli` builds the concrete parts. */
export interface RunParts {
  readonly store: Store;
  /** Names this run in its leases. */
  readonly owner: string;
  readonly documents: Documents;
  /** Reads and checks everything that people may have edited (rule M1). */
  load(): Promise<Shift>;
  agents(shift: Shift): Agents;
  readonly check: Checks['run'];
  /** Who works and who judges where. */
  readonly folders: Pick<Folders, 'enter' | 'watch'>;
  /** Holds the files that `protect:` names. */
  readonly protection: Protection;
  /** Carries an order out: here, or on another machine. */
  readonly perform: typeof perform;
  readonly emit: Emit;
  /** Calls back after each event, whoever told it. */
  listen(listener: (event: NightshiftEvent) => void): void;
  /** Items that were begun and have not ended. */
  inFlight(): number;
  /** How it was asked for. */
  readonly request?: RunRequest;
  /** What it covers. A run of a part keeps to itself what it learns about the size of batches (rule P4). */
  readonly selection?: Selection;
  /** Resolves when every event so far is durable. */
  flush(): Promise<void>;
  /** Throws if an event could not be kept. */
  checkKept(): void;
  readonly history: History;
  /** What the manager's agent was asked last, by task: the same question is not paid for twice. */
  readonly asked: Map<string, string>;
  /** Who asked to try later in this run (rule X5). */
  readonly returns: Returns;
  /** Told to drain, stop, pause and resume. */
  readonly stop: RunControl;
  /** Why no agent may be asked anything more, if a limit on cost or tokens is used up; absent: there is none. */
  spentUp?(): string | undefined;
  select(snapshot: Snapshot): Scope;
  /** Runs a write of the Steps and the event that tells of it while nobody reads them for a claim; absent: nobody does. */
  readonly alone?: <T>(write: () => Promise<T>) => Promise<T>;
  /** Ends processes of an earlier run of this shift that outlived it; answers how many there were. */
  endLeftovers(): Promise<number>;
  readonly clock: Clock;
  /** From 0 to 1. */
  random(): number;
  /** How long a file that can't be read is waited for; absent: as long as the shift's `patience`. */
  readonly filePatienceMs?: number;
}

/** How a run ended. */
export interface RunEnd {
  readonly exitCode: number;
  readonly reason: string;
  /** An ISO time: another run would wait until then. */
  readonly notBefore?: string;
  /** Everything was done before it began. */
  readonly alreadyComplete?: true;
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
