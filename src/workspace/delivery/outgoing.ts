import type { DeliveryRequest } from '../../core/workspace/workspaces.ts';
import type { Desk } from '../desk.ts';
import type { Git } from '../git.ts';
import type { DeliveryRecord, WorkspaceRecord, WorkspaceRecords } from '../records.ts';
import type { Source } from '../source.ts';
import type { DeskGit } from './desk-git.ts';
import type { PatchPlace } from './patch.ts';
import type { RunProgram } from './pull-request.ts';
import type { RowResult } from './row-result.ts';

export interface DeliveryParts {
  readonly git: Git;
  readonly records: WorkspaceRecords;
  /** The name of the shift. */
  readonly shift: string;
  readonly openDesk: (record: WorkspaceRecord, signal: AbortSignal) => Promise<OpenDesk>;
  /** One merge at a time for each repository, also across processes. */
  readonly lock: (repository: string, signal: AbortSignal) => Promise<Disposable>;
  readonly runProgram: RunProgram;
  readonly patches: PatchPlace;
  readonly now: () => string;
  /** For the crash tests. */
  readonly failpoint: (name: string) => void;
}

/** The desk of a workspace. */
export interface OpenDesk {
  readonly desk: Desk;
  /** Undefined for a folder without git. */
  readonly source: Source | undefined;
  /** What the last task left; undefined: what the files hold now. */
  readonly result: RowResult | undefined;
}

/** One delivery under way. */
export interface Outgoing extends Pick<OpenDesk, 'source'> {
  readonly desk: DeskGit;
  /** Undefined if the workspace is gone. */
  readonly result: RowResult | undefined;
  readonly record: WorkspaceRecord;
  readonly request: DeliveryRequest;
  readonly delivery: DeliveryRecord;
}
