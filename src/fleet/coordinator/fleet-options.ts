import type { Emit } from '../../core/model/events.ts';
import type { Order } from '../../core/model/model.ts';
import type { Task } from '../../core/model/shift.ts';
import type { Worker } from '../../engine/worker/worker-ports.ts';
import type { FleetDatabase } from '../database.ts';
import type { FolderNeed } from '../needs.ts';
import type { Signer } from '../signature.ts';
import type { CarriedRows } from './carried-rows.ts';
import type { Journalling } from './incoming-lines.ts';
import type { FilesOfShift } from './order-files.ts';

/** Where the crash tests may end a coordinator, besides its writes and events. */
export const FLEET_POINTS = [
  ...(['fleet:begun', 'orders:found', 'order:dismissed', 'order:adopted', 'order:claimed'] as const),
  ...(['order:sent', 'order:ended', 'report:accepted', 'order:forgotten'] as const),
  ...(['lines:emitted', 'lines:kept', 'lines:taken'] as const),
] as const;
/** `row:arrived`: only with git workspaces. */
export type FleetPoint = (typeof FLEET_POINTS)[number] | 'row:arrived';

export type Secrets = Readonly<Record<string, string>>;

export interface FleetOptions extends Journalling {
  readonly database: FleetDatabase;
  readonly shift: { readonly key: string; readonly name: string; readonly host: string };
  readonly signer: Signer;
  readonly leaseSeconds: number;
  readonly emit: Emit;
  /** The worker of this process: it delivers results, and gives verdicts that are known. */
  readonly local: (secrets: Secrets) => Worker;
  /** Where the items of a task work. */
  readonly place: (task: Pick<Task, 'hasWorkspace' | 'settings'>) => FolderNeed;
  /** Results of rows in git workspaces; absent: no task has one. */
  readonly rows?: CarriedRows;
  readonly files: FilesOfShift;
  /** Records the files that `protect` names where an order will work: on a shared volume, workers compare with that. */
  hold(order: Order): Promise<void>;
  /** The `.env` that is in force. */
  secrets(): Secrets;
  /** Nothing new starts. */
  isPaused(): boolean;
  /** `fleet stop` was called. */
  onStop(): void;
  /** The run ends at once. */
  readonly stopped: AbortSignal;
  /** The run ends at once, and leaves its orders with the workers. */
  readonly left: AbortSignal;
  /** The run can't continue. */
  onFailure(error: unknown): void;
  failpoint(name: FleetPoint): void;
}
