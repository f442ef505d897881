import type { ResolvedScript, Trouble } from '../model/model.ts';
import type { CarriedResult, CarriedWorkspace } from './carried.ts';
import type { Change } from './change.ts';
import type { DeliveryOutput } from './outputs.ts';
import type { DeliveryKind, Include, WorkspaceKind } from './plan.ts';

/** What a worker asks of the workspaces on its machine. `src/workspace` implements it. */
export interface Workspaces {
  /**
   * Makes the workspace of a row, or finds the one it has. A dev finds it as it was at the start of its task: `base`,
   * or the result of the task before; what an earlier claim left there is kept apart. A qa finds the result of its
   * task.
   */
  open(request: WorkspaceRequest): Promise<OpenWorkspace | WorkspaceFailure>;
}

export interface WorkspaceRequest {
  readonly role: 'dev' | 'qa';
  /** The same claim goes on: right after its dev, or sent back to it. The files stay as they are. */
  readonly isContinued: boolean;
  readonly task: string;
  readonly item: { readonly id: string; readonly row: number; readonly label?: string };
  readonly kind: WorkspaceKind;
  /** `working-dir`: an absolute path on this machine. */
  readonly workingDir: string;
  readonly repo?: string;
  readonly base?: string;
  /** The branch that results are merged into: without `base`, rows begin with what it holds, if it is there. */
  readonly into?: string;
  readonly branch?: string;
  readonly include: readonly Include[];
  /** `workspaces-dir`. */
  readonly folder?: string;
  /** In a fleet: where it begins. Its own repository and record are on the machine of the coordinator. */
  readonly carried?: CarriedWorkspace;
  /** Runs `setup` in a fresh workspace; undefined: it has none. Returns why it failed. */
  readonly setUp?: (workspace: OpenWorkspace) => Promise<WorkspaceFailure | undefined>;
  /** What the agent runs, with its values, if that is known: the scripts of the Steps. */
  readonly scripts?: readonly string[];
  readonly signal: AbortSignal;
}

/** Why there is no workspace. `trouble`: it is not the item's fault. */
export type WorkspaceFailure =
  | { readonly kind: 'failed'; readonly reason: string; readonly failurePoint: 'workspace' | 'setup' }
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
  | { readonly kind: 'aborted' };

export interface OpenWorkspace {
  readonly kind: 'open';
  /** Its top. */
  readonly top: string;
  /** Where agents and checks work: `working-dir`, in the workspace. */
  readonly folder: string;
  readonly branch: string;
  /** For the sandbox: folders outside of it that its git and its links need, as the engine knows them. */
  readonly reads: readonly string[];
  /** The commit that it began with; undefined: the repository has none. */
  readonly base: string | undefined;
  /** The task whose result it starts with; undefined: it starts with its base. */
  readonly after?: string | undefined;
  /** The result of this task has passed, and its delivery has begun: it is not judged again. */
  readonly isJudged: boolean;
  /** For agents, checks and `setup`: NIGHTSHIFT_WORKSPACE, NIGHTSHIFT_BRANCH, NIGHTSHIFT_BASE, NIGHTSHIFT_PORT. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * What was changed since the start of the task. What the files hold now becomes the result of the task, durably: the
   * next task starts from it, and it is what is delivered.
   */
  change(signal: AbortSignal): Promise<FoundChange | WorkspaceFailure>;
  /**
   * Absent where the result stays: on the machine that has the shift. Otherwise it goes to the relay, so that other
   * machines can continue with it. Its failure is never that of the item.
   */
  send?(signal: AbortSignal): Promise<SentResult | WorkspaceFailure>;
  /** Before another attempt: makes the folder again if the one before removed it. */
  restore(signal: AbortSignal): Promise<Restored | WorkspaceFailure>;
  /**
   * Why an attempt fails: something shows that it made a change outside of its workspace. Other changes there are told
   * as warnings. `calls`: the inputs of tool calls that may have written.
   */
  trespassOf(calls: readonly string[]): Promise<string | undefined>;
  /** The order has ended. */
  leave(): void;
}

/** `made`: it was gone. */
export type Restored = { readonly kind: 'there' } | { readonly kind: 'made' };

export interface SentResult {
  readonly kind: 'sent';
  readonly carried: CarriedResult;
}

export interface FoundChange {
  readonly kind: 'change';
  readonly change: Change;
}

/** Delivers the results of rows. Every effect happens once, whenever the process ends. */
export interface Deliveries {
  deliver(request: DeliveryRequest): Promise<DeliveryResult>;
}

export interface DeliveryRequest {
  /** The item's id. */
  readonly id: string;
  /** The key in the commit: `Nightshift-Key: <key>`. */
  readonly key: string;
  readonly kind: DeliveryKind;
  /** Only the commit and its branch are made: the rest waits for a person. */
  readonly isHeld: boolean;
  /** The commit that a person approved: it is sent as it is. */
  readonly approved?: string;
  readonly into?: string;
  readonly author?: string;
  readonly message: string;
  readonly title: string;
  readonly body: string;
  /** Absent: `gh` or `glab` opens a pull request. */
  readonly prCommand?: ResolvedScript;
  /** After a rebase: runs the checks again in the workspace. */
  readonly check: () => Promise<DeliveryFailure | undefined>;
  readonly signal: AbortSignal;
}

export type DeliveryFailure =
  /** `failurePoint`: the same for rows that fail for the same reason; names the commit for a conflict. */
  | { readonly kind: 'failed'; readonly reason: string; readonly failurePoint: string }
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
  | { readonly kind: 'aborted' };

/** All are there; empty where a delivery has none. */
export type DeliveryValues = Readonly<Record<DeliveryOutput, string>>;

export type DeliveryResult =
  /** `note`: what a person should know, such as that nothing was changed. */
  { readonly kind: 'delivered'; readonly values: DeliveryValues; readonly note?: string } | DeliveryFailure;
