import type { ShiftStatus } from '../core/folds/shift-status.ts';
import type { Counts, NightshiftEvent } from '../core/model/events.ts';
import type { Role, Usage } from '../core/model/model.ts';
import type { Status } from '../core/model/status.ts';
import type { LessonList } from './lessons/list-lessons.ts';
import type { ItemReport } from './read-item.ts';

export type { ItemReport, LessonList };

/** A shift in a folder. */
export interface Shift {
  readonly name: string;
  /** The shift's own folder, `.nightshift/<name>`. */
  readonly folder: string;
  /** Starts a run, or resumes an interrupted one. */
  run(options?: RunOptions): Run;
  /** How far it is, what runs, what failed and why. */
  status(): Promise<ShiftStatus>;
  /** What it has learned, of all tasks or of one. */
  lessons(task?: string): Promise<LessonList>;
  /** Every row of the table. */
  items(): Promise<Item[]>;
  /** One row (1-based) with its attempts, verdicts and transcripts. */
  item(row: number): Promise<ItemReport>;
  /** Resets what failed and runs only that. Called again after an interruption, it continues. */
  retry(options?: RetryOptions): Run;
  /** Sets items back to `todo`, without running them. */
  reset(options?: ResetOptions): Promise<ResetResult>;
  /** Adds a task: its file, its status column and its place in the Task Order. */
  addTask(name: string, source: TaskSource): Promise<void>;
  /** Stops the run, also one in another process, and waits until it has ended. False: there is none. */
  stop(options?: StopOptions | { readonly leave: boolean }): Promise<boolean>;
  /** Pauses the run, also one in another process: nothing new starts until `resume`. False: there is none. */
  pause(options?: StopOptions): Promise<boolean>;
  /** Continues a paused shift. False: it is not paused. */
  resume(): Promise<boolean>;
  /** The events of a run in another process, from its start to its end. Ends at once if there is none. */
  follow(options?: { readonly signal?: AbortSignal }): AsyncIterable<NightshiftEvent>;
}

/** The content of a task file: its text, or another file. */
export type TaskSource = { readonly text: string } | { readonly from: string };

export interface CreateOptions {
  /** The rows of the table; each names the same columns. */
  readonly items?: readonly Readonly<Record<string, string>>[];
  /** The agent of the shift. The default is OpenCode. */
  readonly agent?: string;
  /** Work on several items at once. */
  readonly parallel?: boolean;
}

/** A limit of the run wins over the same limit in `manager.md`. `none` takes it away. */
export interface LimitOptions {
  /** US dollars. */
  readonly maxCost?: number | 'none';
  readonly maxTokens?: number | 'none';
  /** `30m`, `8h`. */
  readonly maxDuration?: string;
  /** `07:00`, `2026-01-31T07:00`. */
  readonly until?: string | Date;
  readonly maxFailures?: number | 'none';
  readonly maxSameFailures?: number | 'none';
}

export interface AgentOptions {
  /** This agent does all tasks. */
  readonly agent?: string;
  readonly model?: string;
  /** Agents that you wrote. Files, and `agent` above, name them like built-in ones. */
  readonly agents?: readonly CustomAgent[];
  readonly limits?: LimitOptions;
  /** Stops the run when it aborts: running items go back to where they were. */
  readonly signal?: AbortSignal;
}

/** Everything that is given must hold for a row. */
export interface RunOptions extends AgentOptions {
  readonly task?: string;
  /** 1-based: `3`, `3:10`, `3:`, `:10`, or several with commas. */
  readonly rows?: string;
  /** Cells that must have exactly this value. */
  readonly where?: Readonly<Record<string, string>>;
  /** Only this many of these rows, at random. */
  readonly sample?: number;
  /** The same seed chooses the same rows. */
  readonly seed?: string;
}

export interface RetryOptions extends AgentOptions {
  readonly task?: string;
  /** As for a run. */
  readonly rows?: string;
  /** Only failures whose reason contains this text. */
  readonly reason?: string;
}

export interface ResetOptions {
  /** As for a run. Without rows: everything that failed. */
  readonly rows?: string;
  readonly task?: string;
  /** Leave the later tasks of these items as they are. */
  readonly keepLater?: boolean;
}

/**
 * A run that has begun. Reading its events is optional: the run does not wait for a reader, and ends without one. Two
 * readers each get all events. Wrong input rejects `result` and ends the iteration with the same error.
 */
export interface Run extends AsyncIterable<NightshiftEvent> {
  readonly result: Promise<RunResult>;
  /** Starts nothing new; the run ends when running items have finished. */
  stop(options?: StopOptions): void;
}

export interface StopOptions {
  /** Running items go back to where they were. Without it, they finish. */
  readonly now?: boolean;
}

export interface RunResult {
  /** As the command line has it: 0 all done, 3 failed items, 4 stopped, 130 interrupted. */
  readonly exitCode: number;
  readonly reason: string;
  /** The items of the whole shift; absent if the table can no longer be read. */
  readonly counts?: Counts;
  /** Active time. */
  readonly ms: number;
  /** When the trouble ends that the run could not wait for: an ISO time. */
  readonly notBefore?: string;
}

export interface Item {
  /** 1-based. */
  readonly row: number;
  /** Stays the same when rows are sorted, inserted or removed. */
  readonly id: string;
  readonly cells: Readonly<Record<string, string>>;
  /** By task. */
  readonly statuses: Readonly<Record<string, Status>>;
}

export interface ResetResult {
  /** How many item-tasks went back. */
  readonly reset: number;
  readonly tasks: Readonly<Record<string, number>>;
}

/** An agent that you write yourself. Files name it with `agent:` or `qa-agent:`. */
export interface CustomAgent {
  /** Lower-case letters, digits and hyphens; not the name of a built-in agent. */
  readonly name: string;
  /** Whether asking costs money or quota. Then failures in a row pause a task. The default is true. */
  readonly hasModel?: boolean;
  /** Does the work, or judges it. An error that it throws fails the attempt. */
  ask(request: AgentRequest): Promise<AgentReply>;
}

export interface AgentRequest {
  /** `dev` does an item-task, `qa` judges it, `manager` words a change of the Steps. */
  readonly role: Role;
  /** Everything to do, as text. Each prompt stands alone: a later attempt says what failed before. */
  readonly prompt: string;
  /** The form of the report, as a JSON Schema. */
  readonly schema: object;
  /** The folder to work in. */
  readonly folder: string;
  /** For programs that you start: an allow-list of the caller's variables, the shift's `.env` and NIGHTSHIFT_*. */
  readonly environment: Readonly<Record<string, string>>;
  /** `model:` in the files. */
  readonly model?: string;
  /** `tools:` in the files. */
  readonly tools: readonly string[];
  /** The item-task; absent for the manager. */
  readonly work?: AgentWork;
  /** Aborts when the time is over or the run stops. */
  readonly signal: AbortSignal;
  /** Adds a line to the transcript. */
  log(text: string): void;
}

export interface AgentWork {
  readonly task: string;
  /** 1-based. */
  readonly row: number;
  readonly attempt: number;
  /** The item's cells by column, without statuses. */
  readonly item: Readonly<Record<string, string>>;
}

/** `usage`: what this question cost. `model`: the model that answered. */
export type AgentReply = (
  | { readonly report: unknown }
  /** The attempt failed. */
  | { readonly failed: string }
  /**
   * Not the item's fault, such as a rate limit: the item is given back and the run waits. `until`: a time in
   * milliseconds.
   */
  | { readonly trouble: string; readonly until?: number }
) & { readonly usage?: Usage; readonly model?: string };
