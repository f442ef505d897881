import type { Limits, Spent } from '../schedule/limits.ts';
import type { CriterionVerdict, Role, Usage } from './model.ts';
import type { Status } from './status.ts';

/**
 * Everything that happens in a run, as one stream: the journal, the terminal and `--json` are folds over it.
 * `docs/events.md` describes each; names are `noun:verb`.
 */
interface EventMap {
  'run:started': {
    total: number;
    tasks: string[];
    parallel: boolean;
    stream: boolean;
    agent: string;
    pid: number;
    recovered: number;
    waiting: number;
    counts: TaskCounts[];
    /** An agent with a model takes part, which costs money or quota. */
    hasModel: boolean;
    limits: Limits;
    spent: Spent;
    /** Of the command line, as `--name=value`: which part is run, by whom, and within which limits. */
    flags?: string[];
    /** Without it, it was `start`. */
    command?: 'retry';
  };
  'run:warning': { message: string };
  /**
   * `signal`: who asked: a signal, `limit`, or `control` (the control file). `request`: the id of the request in that file.
   * `running`: the items that may still finish.
   */
  'run:draining': { signal: string; request?: string; running: number; reason?: string };
  'run:stopping': { signal: string; request?: string; running: number };
  /** `since`: an ISO time, which may be before this run. `now`: running items are given back. */
  'run:paused': { since: string; now: boolean; signal?: string; request?: string; running: number };
  'run:resumed': { signal: string; request?: string; running: number };
  'run:waiting': { ms: number; reason: string };
  /**
   * `notBefore`: an ISO time; another run would wait until then. `error`: its code, if one ended the run; there may be no
   * table to count in. `alreadyComplete`: everything was done before the run began.
   */
  'run:finished': {
    exitCode: number;
    reason: string;
    ms: number;
    notBefore?: string;
    error?: string;
    alreadyComplete?: true;
  } & Partial<Counts>;
  'task:paused': { place: string; failures: number; reason: string };
  'batch:claimed': { indices: number[]; size: number };
  'limit:changed': { from: number; to: number; reason: string };
  'batch:finished': { from: number; to: number; reason: string; done: number; failed: number; returned: number };
  'dev:started': { agent: string; key: string; version: string; maxAttempts?: number };
  /** `waitMs`: until the next attempt begins, where there is a pause before it. */
  'attempt:finished': { status: string; reason?: string; maxAttempts?: number; waitMs?: number };
  'dev:finished': {
    status: string;
    attempts: number;
    ms: number;
    reason?: string;
    place?: string;
    captured?: Record<string, string>;
    recommendations?: string[];
    usage?: Usage;
    compacted?: boolean;
    key: string;
    model?: string;
  };
  'qa:started': { agent: string; key: string };
  'qa:finished': {
    status: 'PASS' | 'FAIL' | 'NONE';
    ms: number;
    reason?: string;
    place?: string;
    verdicts: CriterionVerdict[];
    usage?: Usage;
    key: string;
    model?: string;
  };
  /** `changed`: the files that it changed, or may have. */
  'verdict:voided': { reason: string; changed: string[] };
  /** The sum of these is what the shift has spent: also what a run that was killed in the middle of an item has. */
  'usage:spent': {
    role: Role;
    agent: string;
    usage: Usage;
    /** How long a command took that is no run, such as `test-task`; it counts towards `max-duration`. */
    ms?: number;
  };
  'item:recorded': { from: Status; to: Status; reason?: string };
  /** `isSilent`: in a batch by hand, its agent ended without a status. */
  'item:returned': { reason: string; isSilent?: true };
  /** `to`: the status that it was given; null if its row was removed. Older journals don't have it. */
  'item:withdrawn': { reason: string; to?: Status | null };
  /** `inFlight`: the items that were. `remedy`: the command that puts it in force after all. */
  'edit:reverted': {
    file: string;
    what: string;
    kept?: string;
    inFlight?: { task: string; index: number }[];
    remedy?: string;
  };
  /** What a person put in force with a command: it counts from the next claim on. */
  'document:accepted': { file: string; what: string };
  /** `retry`: they were set back by this command, whose flags these are. `columns`: in the order in which they were made. */
  'table:edited': { changes: CellEdit[]; by: string; retry?: string[]; columns?: ColumnChange[] };
  'table:grew': { rows: number };
  /**
   * `considered`: the items whose recommendations are settled by this, whether they were taken or not. `batch`: the
   * number of the batch in its run that they came from; 0 if an earlier run was interrupted before it could fold them in.
   */
  'steps:changed': {
    from: string;
    to: string;
    summary: string;
    lessons: Lesson[];
    batch: number;
    considered: string[];
  };
  'steps:kept': { reason: string; recommendations: Recommendation[]; considered: string[] };
  progress: { done: number; total: number; compacted: boolean };
}

export interface Counts {
  total: number;
  completed: number;
  failed: number;
  remaining: number;
}

/**
 * The item-tasks of one task that a run is about, by status; `blocked`: those at `todo` that it can't reach (rule M4), behind
 * a failed one, or one that it is not about and that is not done.
 */
export interface TaskCounts extends Record<Status, number> {
  task: string;
  blocked: number;
}

/** A cell that a person changed through a command while a run may be going on: the run takes it as meant. */
export interface CellEdit {
  item: string;
  column: string;
  from: string;
  to: string;
}

/** A column of metadata that a person changed through a command: all rows stay who they are. `value`: of every row. */
export type ColumnChange =
  | { kind: 'add'; name: string; value: string }
  | { kind: 'rename'; name: string; to: string }
  | { kind: 'drop'; name: string };

export interface Recommendation {
  text: string;
  item: string;
  row: number;
  attempts: number;
}

export interface Lesson {
  text: string;
  rows: number[];
  attempts: number[];
}

/** Where an event belongs; absent where it does not apply. */
interface Subject {
  task?: string;
  index?: number;
  attempt?: number;
  item?: string;
}

export type EventType = keyof EventMap;

/** What a part of the engine says; the run stamps it. */
export type Happening = { [T in EventType]: { type: T } & Subject & EventMap[T] }[EventType];

export type NightshiftEvent = Happening & {
  at: string;
  run: string;
  seq: number;
  /** Milliseconds of active time since the run began; older journals don't have it. */
  elapsed?: number;
  shift: string;
};

/** A line of a transcript, in one form for all agents: kept in a file of its own, never in the journal. */
export type TranscriptEntry =
  | { readonly kind: 'prompt' | 'text' | 'output' | 'error' | 'note'; readonly text: string }
  /** `text`: its input as JSON. `mayWrite`: it is not known to only read. */
  | { readonly kind: 'tool-call'; readonly tool: string; readonly text: string; readonly mayWrite: boolean }
  | { readonly kind: 'tool-result'; readonly tool: string; readonly text: string; readonly isError: boolean }
  /** What was spent since the usage before. */
  | { readonly kind: 'usage'; readonly usage: Usage };

/** A line of a transcript's file. */
export type TranscriptLine = TranscriptEntry & {
  readonly at: string;
  readonly role: string;
  readonly attempt?: number;
};

export interface TranscriptHappening extends Subject {
  type: 'transcript';
  role: Role;
  key: string;
  entry: TranscriptEntry;
}

export type Emit = (happening: Happening | TranscriptHappening) => void;
