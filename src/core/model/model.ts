import type { LimitSettings } from '../schedule/budget.ts';
import type { DevUsage } from '../schedule/qa-retry.ts';
import type { CarriedResult, CarriedWorkspace } from '../workspace/carried.ts';
import type { ChangeLimits } from '../workspace/change.ts';
import type { FilledWorkspace, WorkspaceTemplate } from '../workspace/plan.ts';
import type { FilledTask, TaskTemplate } from './shift.ts';
import type { Status } from './status.ts';

/** The words of the domain as data. Orders and outcomes are plain JSON. */

/** The maximum size of a cell, and so of an output, in bytes. */
export const LARGEST_CELL = 1024 * 1024;

/** The maximum length of a text from an agent or a check that is kept. */
export const LONGEST_REASON = 4000;

/** Rule D3: a first try and two retries, unless `attempts` says otherwise. */
export const ATTEMPTS = 3;
export const MOST_ATTEMPTS = 10;

export type Role = 'manager' | 'dev' | 'qa';

/** Text with secrets by name; only the worker has their values. */
export type Text = readonly (string | SecretName)[];
export interface SecretName {
  readonly env: string;
}

/** A shell script that gets its values through the environment, never as text (rule V4). */
export interface Script {
  readonly source: string;
  readonly values: Readonly<Record<string, string | SecretName>>;
  /** Its first line in the task file. */
  readonly line: number;
  /** Absent: `sh`. */
  readonly shell?: 'bash';
}

/** A script with the values of its variables, also of secrets. */
export interface ResolvedScript extends Omit<Script, 'values' | 'line'> {
  readonly values: Readonly<Record<string, string>>;
}

export interface Step {
  readonly number: number;
  readonly text: Text;
  readonly scripts: readonly Script[];
}

export interface Criterion {
  readonly text: Text;
  /** Absent: only a qa can judge it. */
  readonly check?: Script;
}

/** How a task is done: its Configuration merged with the shift's. */
export interface Settings {
  readonly agent: string;
  readonly command?: string;
  readonly acpCommand?: string;
  readonly model?: string;
  readonly tools: readonly string[];
  /** The agent and model of the qa; by default those of the dev. */
  readonly qaAgent?: string;
  readonly qaModel?: string;
  readonly qa: 'auto' | 'always';
  /** The items of a batch are judged at the same time. */
  readonly qaParallel: boolean;
  /** Of the dev, in total. */
  readonly attempts: number;
  /** How often an item that a qa fails goes back to its dev, as its next attempt. */
  readonly qaRetries: number;
  /** Before the first retry; doubles before each further one. 0: none. */
  readonly retryDelayMs: number;
  readonly timeoutMs: number;
  readonly checkTimeoutMs: number;
  readonly outputs: readonly string[];
  readonly passEnv: readonly string[];
  /** Globs of files that no agent may change (rules D5, Q2). */
  readonly protect: readonly string[];
  /** Of what this task may change in the workspace of a row. */
  readonly changeLimits: ChangeLimits;
  /** `offline`: without network. */
  readonly sandbox: 'off' | 'on' | 'offline';
  /** In a fleet: labels that a worker must have. */
  readonly workerLabels?: readonly string[];
  /** Each order has an empty folder, which is removed (`workspace: none`). */
  readonly isFolderless?: true;
}

/**
 * One item-task for one agent: all that a worker on any machine needs to carry it out. It names secrets and the places
 * of the shift; the worker has their values.
 */
export interface Order {
  readonly role: 'dev' | 'qa';
  readonly shift: { readonly name: string };
  readonly task: string;
  /** The version of the Steps (rule L4). */
  readonly version: string;
  readonly item: {
    readonly id: string;
    readonly index: number;
    /** How people name the row. */
    readonly label?: string;
    readonly metadata: Readonly<Record<string, string>>;
  };
  readonly token: string;
  readonly key: string;
  readonly settings: Settings;
  readonly template: TaskTemplate;
  /** Absent: the task works in `working-dir` itself. */
  readonly workspace?: WorkspaceTemplate;
  /** In a fleet: where the workspace of the row begins on a worker. */
  readonly carried?: CarriedWorkspace;
  /** No later task works in the workspace: its result is delivered after the verdict. */
  readonly isLastInWorkspace?: true;
  /** For the qa of that task: the outputs that the templates of the delivery name. No agent is told. */
  readonly deliveryOutputs?: Readonly<Record<string, string>>;
  /** The lessons in the Steps, with the numbers of their steps. */
  readonly lessons?: readonly { readonly id: string; readonly step: number; readonly text: string }[];
  /** It is done without lessons, to see what they are worth (`holdout`). */
  readonly isHeldOut?: true;
  /** The names in the shift's `.env`; only the worker has their values. */
  readonly secretNames: readonly string[];
  /** Why this item failed before it was reset (rule D1). */
  readonly lastFailure?: string;
  /** For a dev whose item a qa sent back: what was used up before, and what the qa found. */
  readonly retry?: DevUsage & { readonly verdict: string };
  /** For a qa: the outputs of this task that its criteria name. Nothing else that the dev said. */
  readonly outputs?: Readonly<Record<string, string>>;
  /** For a qa directly after its dev: the checks passed at the end of that attempt and don't run again. */
  readonly checksPassed?: boolean;
  /**
   * Its program asked to try later twice before, while other items were done; the third time fails the item (rule
   * X5).
   */
  readonly isLastChance?: boolean;
}

/** Where a worker finds the shift: absolute paths of its own machine. */
export interface ShiftPlace {
  /** The project. */
  readonly root: string;
  readonly folder: string;
  readonly table: string;
  /** On a worker of a fleet: what its processes of the shift carry. Absent: the folder. */
  readonly mark?: string;
}

/** An order as one machine carries it out. */
export interface LocalOrder extends Omit<Order, 'shift' | 'template' | 'workspace'>, FilledTask {
  readonly shift: ShiftPlace & { readonly name: string };
  readonly workspace?: FilledWorkspace;
  /** To fill in the criteria again when the outputs are known. */
  readonly criterionTemplates: TaskTemplate['criteria'];
}

export interface CriterionVerdict {
  readonly criterion: string;
  readonly status: 'PASS' | 'FAIL';
  readonly reason?: string;
  /** The engine checked it: no agent can overrule it. */
  readonly checked?: boolean;
}

/** What a program reported; what it did not report is absent, and never 0. */
export interface Usage {
  /** Includes cached input. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costUsd?: number;
  /** Tokens whose cost was not reported. */
  readonly unpricedTokens?: number;
  /** How many reported costs could not be read: that spending is unknown. */
  readonly unreadCosts?: number;
}

/** Not the item's fault (rule X5). */
export interface Trouble {
  readonly reason: string;
  /** Set if only a person can fix it (not logged in, no such model): what to do. */
  readonly remedy?: string;
  /** When it ends by itself, in milliseconds since 1970, if the program said so. */
  readonly until?: number;
  /** The task's own program asked to try later (exit code 75): only this item may be affected. */
  readonly isRequested?: true;
  /** In a fleet: only one worker is affected, and the run goes on with the others. */
  readonly isWorker?: true;
  /** With `isWorker`: what it can't offer until you fix it, such as `workspace:git`. Absent: the agent. */
  readonly offer?: string;
  /** A limit on cost or tokens is used up: the run ends, and no agent gets another prompt (rule X6). */
  readonly isLimit?: true;
}

/** The result of an order. Without `to` it was not the item's fault: it is given back (dev) or stays at `qa` (qa). */
export interface Outcome {
  readonly role: 'dev' | 'qa';
  readonly id: string;
  readonly token: string;
  readonly to?: Extract<Status, 'qa' | 'done' | 'failed'>;
  readonly attempts: number;
  /** For a dev: the duration of all its attempts. */
  readonly ms?: number;
  /** For a qa: whether it judged the item. */
  readonly isVerdict?: true;
  readonly reason?: string;
  /** The failure point, in words that are the same for all items of the task: `step 2`, `criterion 1`, `timeout`. */
  readonly failurePoint?: string;
  readonly trouble?: Trouble;
  readonly verdicts: readonly CriterionVerdict[];
  readonly outputs: Readonly<Record<string, string>>;
  readonly captured: Readonly<Record<string, string>>;
  readonly recommendations: readonly string[];
  readonly usage: Usage;
  readonly compacted: boolean;
  /** For a dev in a fleet that succeeded in a workspace: its result, which the relay has. */
  readonly carried?: CarriedResult;
}

/** How recommendations become lessons. */
export interface LessonSettings {
  /** `eager`: one row is enough. `careful`: two rows must agree, or a person accepts it. */
  readonly mode: 'eager' | 'careful' | 'off';
  /** For each task: how many lessons, and how many bytes of text. */
  readonly budget: { readonly lessons: number; readonly bytes: number };
  /** The share of items that are done without lessons, from 0 to 1. */
  readonly holdout: number;
}

/** What comes first: the first task with eligible items, or the first row with an eligible task (rules M2, M3). */
export type Sequence = 'tasks' | 'rows';

/** The shift's own settings, read from `manager.md`. */
export interface ShiftSettings {
  readonly name?: string;
  readonly created?: string;
  readonly parallel: boolean;
  readonly batchSize?: number;
  readonly maxBatchSize?: number;
  /** `true`: a free slot is refilled at once (rule X7); otherwise batches. */
  readonly stream: boolean;
  readonly sequence: Sequence;
  readonly lessons: LessonSettings;
  /** How long the run waits for trouble to pass without any progress (rule X5). */
  readonly patienceMs: number;
  /** Whether it was set. If not, a time limit of the run counts instead. */
  readonly isPatienceSet: boolean;
  /** Whether each run ends with a report. */
  readonly hasReport: boolean;
  readonly limits: LimitSettings;
}

/** A `- key: value` line and its position. */
export interface Setting {
  readonly key: string;
  readonly value: string;
  readonly line: number;
  /** The fenced blocks below it, if its value may be one. */
  readonly blocks?: readonly { readonly info: string; readonly code: string; readonly line: number }[];
}
