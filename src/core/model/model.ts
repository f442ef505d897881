import type { SetLimits } from '../schedule/limits.ts';
import type { DevUsage } from '../schedule/qa-retry.ts';
import type { Status } from './status.ts';

/** The words of the domain as data. Everything that crosses a seam (order, outcome) is plain JSON. */

/** Bytes that a cell of the table holds at most; so does an output that is to be written there. */
export const LARGEST_CELL = 1024 * 1024;

/** Characters of one text that an agent or a check said, however much it was: history is bounded by items. */
export const LONGEST_REASON = 4000;

/** Rule D3: a first try and two retries, unless `attempts` says otherwise. */
export const ATTEMPTS = 3;
export const MOST_ATTEMPTS = 10;

export type Role = 'manager' | 'dev' | 'qa';

/** Text in which secrets stand by name; whoever runs it has the values. */
export type Text = readonly (string | SecretName)[];
export interface SecretName {
  readonly env: string;
}

/** A shell script that gets its values through the environment, never as text (rule V4). */
export interface Script {
  readonly source: string;
  readonly values: Readonly<Record<string, string | SecretName>>;
  /** Where its first line stands in the task file. */
  readonly line: number;
}

export interface Step {
  readonly number: number;
  readonly text: Text;
  readonly scripts: readonly Script[];
}

export interface Criterion {
  readonly text: Text;
  /** Absent: only qa can judge it. */
  readonly check?: Script;
}

/** How a task is done, after the task's Configuration was laid over the shift's. */
export interface Settings {
  readonly agent: string;
  readonly command?: string;
  readonly acpCommand?: string;
  readonly model?: string;
  readonly tools: readonly string[];
  /** Who judges, and with which model; absent: the dev's. */
  readonly qaAgent?: string;
  readonly qaModel?: string;
  readonly qa: 'auto' | 'always';
  /** The qa of a batch all at once. */
  readonly qaParallel: boolean;
  /** Of the dev, in all. */
  readonly attempts: number;
  /** How often what a qa fails goes back to its dev, as its next attempt. */
  readonly qaRetries: number;
  /** Before the first retry; doubled before each further one. 0: none. */
  readonly retryDelayMs: number;
  readonly timeoutMs: number;
  readonly checkTimeoutMs: number;
  readonly outputs: readonly string[];
  readonly passEnv: readonly string[];
  /** Globs of files that nobody may change (rules D5, Q2). */
  readonly protect: readonly string[];
}

/** One item-task for one agent: all that it needs, so that a worker elsewhere could carry it out unchanged. */
export interface Order {
  readonly role: 'dev' | 'qa';
  readonly shift: { readonly name: string; readonly folder: string; readonly table: string; readonly root: string };
  readonly task: string;
  /** Which version of the Steps this is (rule L4). */
  readonly version: string;
  readonly item: { readonly id: string; readonly index: number; readonly metadata: Readonly<Record<string, string>> };
  readonly token: string;
  readonly key: string;
  readonly workingDir: Text;
  readonly settings: Settings;
  /** The task file with placeholders filled in, for a reader. */
  readonly document: Text;
  readonly steps: readonly Step[];
  readonly criteria: readonly Criterion[];
  /** The names in the shift's `.env`; the values stay where the agent runs. */
  readonly secretNames: readonly string[];
  /** Why this item failed before it was reset (rule D1). */
  readonly lastFailure?: string;
  /** For a dev whose item a qa has sent back: what was used up before, and what the qa found. */
  readonly retry?: DevUsage & { readonly verdict: string };
  /** For a qa right after its dev: the checks passed at the end of that attempt and are not run again. */
  readonly checksPassed?: boolean;
  /** Its program asked to try later twice before, while other items were done: a third time fails the item (rule X5). */
  readonly isLastChance?: boolean;
}

export interface CriterionVerdict {
  readonly criterion: string;
  readonly status: 'PASS' | 'FAIL';
  readonly reason?: string;
  /** The engine ran it itself: nobody can overrule it. */
  readonly checked?: boolean;
}

/** What a program told; what it did not tell is absent, and never 0. */
export interface Usage {
  /** Cached input counts too. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costUsd?: number;
  /** Of these tokens nobody told what they cost. */
  readonly unpricedTokens?: number;
  /** How often a cost was told that can't be read: nobody knows how much was spent. */
  readonly unreadCosts?: number;
}

/** Not the item's fault (rule X5). */
export interface Trouble {
  readonly reason: string;
  /** Set where only a person can end it (not logged in, no such model): what to do. */
  readonly remedy?: string;
  /** Milliseconds since 1970: when it ends by itself, where the program said so. */
  readonly until?: number;
  /** The task's own program asked to try later (exit code 75): it may be about this item alone. */
  readonly isRequested?: true;
  /** A limit on cost or tokens is used up: the run ends, and nobody is asked anything more (rule X6). */
  readonly isLimit?: true;
}

/** What became of an order. `to` absent: not the item's fault, it is given back (dev) or stays at `qa` (qa). */
export interface Outcome {
  readonly role: 'dev' | 'qa';
  readonly id: string;
  readonly token: string;
  readonly to?: Extract<Status, 'qa' | 'done' | 'failed'>;
  readonly attempts: number;
  /** Of a dev: how long all of its attempts took. */
  readonly ms?: number;
  /** Of a qa: it has judged the item; else nothing was found out about it. */
  readonly isVerdict?: true;
  readonly reason?: string;
  /** Where it failed, in words that are the same for all items of the task: `step 2`, `criterion 1`, `timeout`. */
  readonly place?: string;
  readonly trouble?: Trouble;
  readonly verdicts: readonly CriterionVerdict[];
  readonly outputs: Readonly<Record<string, string>>;
  readonly captured: Readonly<Record<string, string>>;
  readonly recommendations: readonly string[];
  readonly usage: Usage;
  readonly compacted: boolean;
}

/** The shift's own settings, read from `manager.md`. */
export interface ShiftSettings {
  readonly name?: string;
  readonly created?: string;
  readonly parallel: boolean;
  readonly batchSize?: number;
  readonly maxBatchSize?: number;
  /** A free slot is refilled at once (rule X7); else batches. */
  readonly stream: boolean;
  readonly learn: boolean;
  /** How long the run goes on without any progress while trouble is not the items' fault (rule X5). */
  readonly patienceMs: number;
  /** Whether somebody set it: if not, a limit of the run's time counts instead. */
  readonly isPatienceSet: boolean;
  readonly limits: SetLimits;
}

/** A `- key: value` line, and where it stands. */
export interface Setting {
  readonly key: string;
  readonly value: string;
  readonly line: number;
}
