import type { Pace } from '../folds/pace.ts';
import type { ShiftStatus } from '../folds/shift-status.ts';
import type { Counts, TranscriptLine } from '../model/events.ts';
import type { CriterionVerdict, Usage } from '../model/model.ts';
import type { Status } from '../model/status.ts';
import type { RowFilter } from './row-query.ts';

/**
 * What the server of `nightshift view` answers, as JSON, with `history-answers.ts` and `action.ts`: the contract between
 * `app/page`, `server` and `web`. All text in it is data, without secrets, and never HTML. Times are ISO 8601 in UTC.
 */

/** `GET /api/project`. */
export interface ProjectAnswer {
  readonly root: string;
  readonly version: string;
  /** No actions: `--read-only`. */
  readonly isReadOnly: boolean;
  /** Running first, then the latest. */
  readonly shifts: readonly ShiftCard[];
}

/** How a request names a shift: `pages`, or `archive/2026-11-18-pages`. */
export type ShiftId = string;

export interface ShiftCard {
  readonly id: ShiftId;
  readonly name: string;
  readonly isArchived: boolean;
  /** Why it can't be read; then the rest is absent. */
  readonly problem?: string;
  /** It is still being read: ask again. */
  readonly isPartial?: true;
  readonly counts?: Counts;
  readonly runningSince?: string;
  readonly pausedSince?: string;
  /** Trouble: nothing new starts before. */
  readonly waitingUntil?: string;
  readonly usage?: Usage;
  readonly maxCostUsd?: number;
  readonly finish?: FinishEstimate;
  /** How the last run ended, or why an item failed last. */
  readonly lastReason?: string;
  readonly lastAt?: string;
  readonly decisions?: Decisions;
}

/** What waits for a person, besides failures. */
export interface Decisions {
  /** Results that wait for `nightshift deliver`. */
  readonly results: number;
  readonly lessons: number;
  /** Files with edits that were reverted. */
  readonly reverted: readonly string[];
}

export interface FinishEstimate {
  readonly earliest: string;
  readonly latest: string;
}

/** `GET /api/shift?shift=ID`: what the header of a shift shows. It has a fixed size, however long the table is. */
/** How many rows each filter finds, in all tasks and in each of them. */
export interface RowCounts {
  readonly all: Readonly<Record<RowFilter, number>>;
  readonly tasks: readonly Readonly<Record<RowFilter, number>>[];
}

export interface ShiftAnswer {
  readonly id: ShiftId;
  readonly isArchived: boolean;
  /** Changes with everything that this answer and windows of rows depend on. */
  readonly version: string;
  /** The journal is still being read: reasons, times and money may be missing. Ask again. */
  readonly isPartial?: true;
  /** Without the failures, which are in `groups`. */
  readonly status: Omit<ShiftStatus, 'failures'>;
  /** The limits in words, with how much of each is used up. */
  readonly limits: readonly string[];
  /** The largest first; at most 50. */
  readonly groups: readonly FailureGroupSummary[];
  readonly groupsLeftOut: number;
  readonly rowCounts: RowCounts;
  readonly columns: GridColumns;
  readonly sessions: readonly SessionAnswer[];
  readonly finish?: FinishEstimate;
  readonly waiting?: { readonly until: string; readonly reason: string };
  /** No worker of the fleet fits: what is needed. */
  readonly waitingForWorkers?: string;
  /** Nothing new starts: a signal, `control` or `limit`. */
  readonly draining?: string;
  readonly decisions: Decisions;
  /** The report of the last run, if there is one: a path in the project. */
  readonly report?: string;
}

export interface GridColumns {
  readonly tasks: readonly string[];
  readonly metadata: readonly string[];
  readonly outputs: readonly string[];
  /** The column that names rows. */
  readonly label?: string;
}

export interface FailureGroupSummary {
  readonly id: string;
  readonly task: string;
  readonly reason: string;
  readonly items: number;
  /** 1-based, the first few. */
  readonly rows: readonly number[];
}

/** A dev or a qa at work. */
export interface SessionAnswer {
  readonly task: string;
  readonly item: string;
  readonly row: number;
  readonly label?: string;
  readonly role: 'dev' | 'qa';
  readonly agent: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly since: string;
  readonly pace: Pace;
  /** What its agent does: `edit src/a.ts`. */
  readonly doing?: string;
  /** Of a fleet. */
  readonly worker?: string;
}

/**
 * `GET /api/rows?shift=ID&from=0&count=200&...`: a window of the rows that match, sorted. `core/page/row-query.ts` writes
 * and reads the query, which is also the address of the page.
 */
export interface RowsAnswer {
  readonly version: string;
  /** Rows in the table, and how many of them match. */
  readonly total: number;
  readonly matching: number;
  readonly from: number;
  readonly rows: readonly GridRow[];
}

export interface GridRow {
  /** 1-based. */
  readonly row: number;
  readonly item: string;
  readonly label?: string;
  /** The cells of the columns that were asked for, in that order, each cut to 300 characters. */
  readonly cells: readonly string[];
  /** In Task Order. */
  readonly tasks: readonly GridCell[];
  /** Of all tasks and attempts. */
  readonly ms?: number;
  readonly costUsd?: number;
}

export interface GridCell {
  readonly status: Status;
  readonly attempts: number;
  /** Of a failure, cut to 300 characters. */
  readonly reason?: string;
  /** Of a fleet: where it runs, or last ran. */
  readonly worker?: string;
  /** An earlier task of the row failed. */
  readonly isBlocked?: true;
}

/** `GET /api/item?shift=ID&item=ITEM` (or `&row=N`). */
export interface ItemAnswer {
  readonly row: number;
  readonly item: string;
  readonly label?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tasks: readonly ItemTaskAnswer[];
  readonly workspace?: WorkspaceAnswer;
}

export interface ItemTaskAnswer {
  readonly task: string;
  readonly status: Status;
  readonly key: string;
  readonly attempts: readonly { number: number; status: string; reason?: string; at: string; worker?: string }[];
  readonly verdicts: readonly CriterionVerdict[];
  readonly failure?: string;
  readonly captured: Readonly<Record<string, string>>;
  readonly usage: Usage;
  readonly ms?: number;
  readonly devModel?: string;
  readonly qaModel?: string;
  /** The worker of a fleet that judged it. */
  readonly qaWorker?: string;
  /** The version of the Steps that its dev got: the number in `StepsAnswer`, if it is kept. */
  readonly stepsVersion?: number;
  /** Bytes of each transcript that is there. */
  readonly transcripts: Readonly<Partial<Record<'dev' | 'qa', number>>>;
  readonly session?: SessionAnswer;
}

export interface WorkspaceAnswer {
  readonly folder: string;
  readonly branch?: string;
  readonly base?: string;
  readonly state: string;
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  /** It waits for `nightshift deliver`. */
  readonly isHeld: boolean;
  readonly url?: string;
}

/** `GET /api/diff?shift=ID&row=N`: at most 1 MB of text. */
export interface DiffAnswer {
  readonly text: string;
  readonly isCut: boolean;
}

/**
 * `GET /api/transcript?shift=ID&task=T&item=ITEM&role=dev&from=BYTE` (or `&before=BYTE`; without both: the end): whole
 * entries, about 256 kB of them.
 */
export interface TranscriptAnswer {
  /** Byte offsets of what was read, and the size of the file. */
  readonly from: number;
  readonly to: number;
  readonly size: number;
  readonly entries: readonly TranscriptEntryAnswer[];
}

export interface TranscriptEntryAnswer {
  /** The byte offset of its line. */
  readonly offset: number;
  /** `text` is cut to 20,000 characters. */
  readonly line: TranscriptLine;
  /** How many characters were cut. `GET /api/entry?...&offset=BYTE` answers a `TranscriptEntryAnswer` in full (1 MB). */
  readonly cut?: number;
}

/** `GET /api/find?shift=ID&task=T&item=ITEM&role=dev&text=...`: offsets of entries, at most 500. */
export interface FindAnswer {
  readonly offsets: readonly number[];
  readonly isCut: boolean;
}

/** Every answer with a status other than 2xx. */
export interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
}
