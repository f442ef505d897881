import type { ChangeCounts } from '../../core/workspace/change.ts';
import type { WorkspaceState } from '../../core/workspace/state.ts';
import type { DeliveryRecord, WorkspaceRecord } from '../../workspace/records.ts';

/** A workspace as people see it. */
export interface WorkspaceReport {
  /** 1-based; null: its row is gone, or it is of a test. */
  readonly row: number | null;
  /** The row's, or that of the folder. */
  readonly name: string;
  /** Made by `test-task`. */
  readonly isTest: boolean;
  readonly kind: WorkspaceRecord['kind'];
  readonly folder: string;
  readonly from: string;
  readonly branch: string;
  readonly base: string | null;
  readonly state: WorkspaceState;
  /** Why it is kept, or what is odd about it. */
  readonly why?: string;
  /** Null: it can't be read. */
  readonly change: ChangeCounts | null;
  readonly delivery?: DeliveryRecord;
}
