import type { History } from '../core/folds/history.ts';
import type { FindTraits } from '../core/model/agent-traits.ts';
import type { Emit, NightshiftEvent } from '../core/model/events.ts';
import type { Order, Trouble } from '../core/model/model.ts';
import type { Protection } from '../core/model/protection.ts';
import type { Shift, Task } from '../core/model/shift.ts';
import type { Scope } from '../core/schedule/plan.ts';
import type { RunRequest } from '../core/schedule/run-request.ts';
import type { Selection } from '../core/schedule/selection.ts';
import type { Documents } from '../store/documents.ts';
import type { Snapshot, Store } from '../store/store.ts';
import type { Watch } from '../watch/watch.ts';
import type { RunControl } from './control.ts';
import type { RunClock } from './run-clock.ts';
import type { Running } from './running.ts';
import type { Worker } from './worker/worker-ports.ts';

/** How the caller of a run asks it to end. */
export interface Stop {
  /** Nothing new starts; running items finish. */
  readonly drain: AbortSignal;
  /** Running items are ended and given back. */
  readonly now: AbortSignal;
}

/** What a run is built from; `app` builds the concrete parts. */
export interface RunPorts {
  readonly store: Store;
  readonly documents: Documents;
  /** Reads and checks everything that you may have edited (rule M1), also while items run. */
  load(): Promise<Shift>;
  /** The worker with these values of `.env`: an order only names them. */
  worker(secrets: Shift['secrets']): Worker;
  /** What an agent is; only workers ask one. */
  readonly findAgent: FindTraits;
  /** Watches the shift's files while items run. */
  readonly shiftFiles: Watch;
  /** Protects the files that `protect:` names. */
  readonly protection: Pick<Protection, 'begin' | 'end'>;
  readonly events: Events;
  /** Receives requests to drain, stop, pause and resume. */
  readonly control: RunControl;
  readonly running: Running;
  readonly clock: RunClock;
  readonly scope: RunScope;
  /** Names this run in its leases. */
  readonly owner: string;
  /** Absent: this process is the only worker. */
  readonly fleet?: Fleet;
  /** How long a run waits for an unreadable file; absent: the shift's `patience`. */
  readonly filePatienceMs?: number;
}

export interface Events {
  readonly emit: Emit;
  /** Calls back after each event, once it is in the history. */
  listen(listener: (event: NightshiftEvent) => void): void;
  /** Resolves when every event so far is durable. */
  flush(): Promise<void>;
  /** Throws if an event could not be kept. */
  checkKept(): void;
  readonly history: History;
}

/** Something of this task is running in this role, or could start. */
export interface OpenWork {
  readonly task: Task;
  readonly role: 'dev' | 'qa';
}

/** Workers on other machines. `ports.worker` sends them orders. */
export interface Fleet {
  /** How many items the workers that are there, and fit one of these tasks in this role, can work on at once. */
  slots(tasks: readonly Task[], role: OpenWork['role']): number;
  /** Whether a worker is there that can work on items of this task in this role. */
  fits(task: Task, role: OpenWork['role']): boolean;
  /** How many slots this run would use if they were there: for whoever starts workers. */
  setDemand(items: number): void;
  /** Reports what there is to do. `isWaiting`: nothing can be claimed, because no worker fits. */
  reportOpenWork(work: readonly OpenWork[], isWaiting: boolean): void;
  /** Resolves when workers may have come or gone, or the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
  /** Orders of an earlier run that workers may still carry out. `worker.run` follows them instead of sending others. */
  surviving(): Order[];
  /** Ends an order of an earlier run. */
  dismiss(order: Order): Promise<void>;
}

/** What the run covers. */
interface RunScope {
  select(snapshot: Snapshot): Scope;
  /** What chose the scope. A run of a part does not write the batch size (rule P4). */
  readonly selection?: Selection;
  /** How the run was requested. */
  readonly request?: RunRequest;
}

/** How a run ended. */
export interface RunEnd {
  readonly exitCode: number;
  readonly reason: string;
  /** An ISO time: another run would wait until then. */
  readonly notBefore?: string;
  /** Everything was done before the run began. */
  readonly alreadyComplete?: true;
  /** How many orders stay with the workers of a fleet. */
  readonly left?: number;
}

/** How the items of a batch ended. `trouble`: why items were given back, if it was not their fault. */
export interface BatchEnd {
  readonly done: number;
  readonly failed: number;
  readonly returned: number;
  readonly compacted: boolean;
  readonly trouble?: Trouble;
}

export const NOTHING: BatchEnd = { done: 0, failed: 0, returned: 0, compacted: false };
