import type { LessonState } from '../learning/lesson.ts';
import type { Expenses, Limits } from '../schedule/budget.ts';
import type { Selection } from '../schedule/selection.ts';
import type { AgentAccess } from '../workspace/access.ts';
import type { ResultsPlace } from '../workspace/results.ts';
import type { CriterionVerdict, Role, Usage } from './model.ts';
import type { Status } from './status.ts';
import type { CellEdit, ColumnChange } from './table-edit.ts';

/**
 * Everything that happens in a run, as one stream: the journal, the terminal and `--json` are folds over it.
 * `docs/events.md` describes each event; names are `noun:verb`.
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
    /** Items that workers of a fleet continued while no coordinator was there. */
    adopted?: number;
    waiting: number;
    counts: TaskCounts[];
    /** An agent with a model takes part, which costs money or quota. */
    hasModel: boolean;
    limits: Limits;
    spent: Expenses;
    /** What the run covers, unless that is the whole shift. */
    selection?: Selection;
    /** Flags of the command line, as `--name=value`: the scope, the agent and the limits. */
    flags?: string[];
    /** Absent for `start`. */
    command?: 'retry';
    /** What agents can write, reach and see; older journals don't have it. */
    access?: AgentAccess[];
    /** Where results go, if rows have workspaces. */
    results?: ResultsPlace;
  };
  'run:warning': { message: string };
  /**
   * `signal`: who asked: a signal, `limit`, or `control` (the control file). `request`: the id of the request in that
   * file. `running`: the items that may still finish. `isLeaving`: the run ends at once, and leaves them with workers.
   */
  'run:draining': { signal: string; request?: string; running: number; reason?: string; isLeaving?: true };
  'run:stopping': { signal: string; request?: string; running: number };
  /** `since`: an ISO time, which may be before this run. `now`: running items are given back. */
  'run:paused': { since: string; now: boolean; signal?: string; request?: string; running: number };
  'run:resumed': { signal: string; request?: string; running: number };
  'run:waiting': { ms: number; reason: string };
  /**
   * `notBefore`: an ISO time; another run would wait until then. `error`: its code, if one ended the run; then counts
   * may be missing. `alreadyComplete`: everything was done before the run began. `left`: how many orders it left with
   * the workers of a fleet.
   */
  'run:finished': {
    exitCode: number;
    reason: string;
    ms: number;
    notBefore?: string;
    error?: string;
    alreadyComplete?: true;
    left?: number;
  } & Partial<Counts>;
  'task:paused': { failurePoint: string; failures: number; reason: string };
  'batch:claimed': { indices: number[]; size: number };
  'concurrency:changed': { from: number; to: number; reason: string };
  'batch:finished': { from: number; to: number; reason: string; done: number; failed: number; returned: number };
  /** `isHeldOut`: it works without lessons. */
  'dev:started': { agent: string; key: string; version: string; maxAttempts?: number; isHeldOut?: true };
  /** A row works in a folder of its own. `base`: the commit that it began with; absent if there was none. */
  /** `after`: the task whose result it starts with, if not with its base. */
  'workspace:opened': { folder: string; branch: string; base?: string; after?: string; ms: number };
  /** `waitMs`: the pause before the next attempt, if there is one. */
  'attempt:finished': {
    status: string;
    reason?: string;
    maxAttempts?: number;
    waitMs?: number;
    votes?: ReportedVote[];
  };
  'dev:finished': {
    status: string;
    attempts: number;
    ms: number;
    reason?: string;
    failurePoint?: string;
    captured?: Record<string, string>;
    recommendations?: string[];
    usage?: Usage;
    compacted?: boolean;
    key: string;
    /** Older journals don't have it. */
    agent?: string;
    model?: string;
  };
  'qa:started': { agent: string; key: string };
  'qa:finished': {
    status: 'PASS' | 'FAIL' | 'NONE';
    ms: number;
    reason?: string;
    failurePoint?: string;
    verdicts: CriterionVerdict[];
    usage?: Usage;
    key: string;
    model?: string;
    votes?: ReportedVote[];
  };
  /** `changed`: the files that it changed, or may have changed. */
  'verdict:voided': { reason: string; changed: string[] };
  /**
   * What became of a row that has passed. `note`: such as that nothing was changed. `isHeld`: it waits for `nightshift deliver`. `reason`: why it was not
   * delivered. `kind`: of `deliver:`.
   */
  'delivery:finished': {
    kind: string;
    ms: number;
    isHeld?: true;
    /** The branch that a merge went to. */
    into?: string;
    branch?: string;
    commit?: string;
    url?: string;
    note?: string;
    reason?: string;
    failurePoint?: string;
  };
  /** The sum of these is what the shift has spent, including runs that were killed. */
  'usage:spent': {
    role: Role;
    agent: string;
    usage: Usage;
    /** The duration of a command that is not a run, such as `test-task`; it counts towards `max-duration`. */
    ms?: number;
  };
  'item:recorded': { from: Status; to: Status; reason?: string };
  /** `isSilent`: in a batch by hand, its agent ended without a status. */
  'item:returned': { reason: string; isSilent?: true };
  /** `to`: the status that it was given; null if its row was removed. Older journals don't have it. */
  'item:withdrawn': { reason: string; to?: Status | null };
  /** `runningItems`: which could have made it. `remedy`: the command that applies the edit. */
  'edit:reverted': {
    file: string;
    what: string;
    kept?: string;
    runningItems?: { task: string; index: number }[];
    remedy?: string;
  };
  /** A document that you applied with a command: it counts from the next claim. */
  'document:accepted': { file: string; what: string };
  /** `retry`: the flags of the `retry` that reset them. `columns`: in the order of the changes. */
  'table:edited': { changes: CellEdit[]; by: string; retry?: string[]; columns?: ColumnChange[] };
  'table:grew': { rows: number };
  /**
   * `considered`: the items whose recommendations are settled, used or not. `counted`: how many votes of each item
   * are counted; others may come while a fold is written. Older journals list the items.
   * `batch`: the number of the batch in its run that they came from; 0 if they are from an interrupted run.
   */
  'steps:changed': {
    from: string;
    to: string;
    summary: string;
    lessons: Lesson[];
    batch: number;
    considered: string[];
    counted?: Record<string, number>;
  };
  'steps:kept': {
    reason: string;
    recommendations: Recommendation[];
    considered: string[];
    counted?: Record<string, number>;
  };
  /** The manager's agent is asked to group recommendations. */
  'fold:started': { agent: string };
  'fold:finished': { ms: number };
  /** `from` is absent if the lesson is new. */
  'lesson:changed': { id: string; text: string; from?: LessonState; to: LessonState; reason?: string };
  /** `slots`: how many orders it carries out at once. `offers`: what it has: `agent:claude`, `secret:API_KEY`. */
  'worker:joined': { worker: string; slots: number; offers: string[] };
  /** It has exited. */
  'worker:left': { worker: string };
  /** Its lease ran out. `running`: how many of its items are given back. */
  'worker:lost': { worker: string; running: number };
  /** A worker whose lease was over sent a result. It does not count. */
  'result:refused': { worker: string; reason: string };
  /** No worker fits. `reason`: what is needed. */
  'fleet:waiting': { reason: string };
  /** After `fleet:waiting`: workers fit again. `slots`: of all workers that fit. */
  'fleet:ready': { slots: number };
  /** `done`, `total`: items. Older journals don't have `itemTasks`. */
  progress: { done: number; total: number; itemTasks?: { done: number; total: number }; compacted: boolean };
}

export interface Counts {
  total: number;
  completed: number;
  failed: number;
  remaining: number;
}

/**
 * The item-tasks of one task in the scope of a run, by status; `blocked`: those at `todo` that the run can't reach
 * (rule M4), because an earlier task failed, or is out of scope and not done.
 */
export interface TaskCounts extends Record<Status, number> {
  task: string;
  blocked: number;
}

/** `at`, `agent` and `model`: when and by which program; older journals don't have them. */
export interface Recommendation {
  text: string;
  item: string;
  row: number;
  attempts: number;
  at?: string;
  agent?: string;
  model?: string;
}

/** What a dev or a qa says about a lesson that it was given. `lesson`: its id. */
export interface ReportedVote {
  lesson: string;
  effect: 'helped' | 'harmed';
  reason: string;
}

/** A vote with the item that it comes from. */
export interface LessonVote extends ReportedVote {
  item: string;
  row: number;
  at: string;
}

export interface Lesson {
  text: string;
  rows: number[];
  attempts: number[];
}

/** What an event is about; fields are absent if they do not apply. */
interface Subject {
  task?: string;
  index?: number;
  /** The row's name for people; absent if it has none, and in older journals. */
  label?: string;
  attempt?: number;
  item?: string;
  /** The worker of a fleet that it comes from, or is about; absent if the shift runs on one machine. */
  worker?: string;
  /** The id of the order that the worker carries out: a UUID. With `n`, it tells a line that arrives twice. */
  order?: string;
  /** The number of the line in its order, from 1; lines of transcripts count too. */
  n?: number;
}

export type EventType = keyof EventMap;

/** An event before the run stamps it. */
export type Happening = { [T in EventType]: { type: T } & Subject & EventMap[T] }[EventType];

export type NightshiftEvent = Happening & {
  at: string;
  run: string;
  seq: number;
  /** Milliseconds of active time since the run began; older journals don't have it. */
  elapsed?: number;
  shift: string;
};

/** A line of a transcript, in one form for all agents: kept in its own file, never in the journal. */
export type TranscriptEntry =
  | { readonly kind: 'prompt' | 'text' | 'output' | 'error' | 'note'; readonly text: string }
  /** `text`: its input as JSON. `mayWrite`: it may do more than read. */
  | { readonly kind: 'tool-call'; readonly tool: string; readonly text: string; readonly mayWrite: boolean }
  | { readonly kind: 'tool-result'; readonly tool: string; readonly text: string; readonly isError: boolean }
  /** What was spent since the previous `usage`. */
  | { readonly kind: 'usage'; readonly usage: Usage };

/** A line of a transcript's file. */
export type TranscriptLine = TranscriptEntry & {
  readonly at: string;
  readonly role: string;
  readonly attempt?: number;
} & Pick<Subject, 'worker' | 'order' | 'n'>;

export interface TranscriptHappening extends Subject {
  type: 'transcript';
  role: Role;
  key: string;
  entry: TranscriptEntry;
}

export type Emit = (happening: Happening | TranscriptHappening) => void;
