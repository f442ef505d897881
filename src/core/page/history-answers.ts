import type { LessonRecord } from '../learning/lesson.ts';
import type { NightshiftEvent } from '../model/events.ts';
import type { Usage } from '../model/model.ts';
import type { Status } from '../model/status.ts';
import type { SessionAnswer, ShiftId } from './answers.ts';

/** `GET /api/steps?shift=ID&task=T`. */
export interface StepsAnswer {
  readonly task: string;
  /** Oldest first. */
  readonly versions: readonly StepsVersionAnswer[];
  /** The current text of the Steps. */
  readonly text: string;
  readonly lessons: readonly LessonRecord[];
  /** Whether rows with lessons do better than rows without: text as in `status`. */
  readonly effect: readonly string[];
}

export interface StepsVersionAnswer {
  readonly number: number;
  readonly version: string;
  readonly isCurrent: boolean;
  readonly at?: string;
  readonly summary?: string;
  readonly lessons?: readonly { readonly text: string; readonly rows: readonly number[] }[];
}

/** `GET /api/steps-diff?shift=ID&task=T&from=N&to=N`: lines that begin with ` `, `+` or `-`. */
export interface StepsDiffAnswer {
  readonly lines: readonly string[];
}

/** `GET /api/charts?shift=ID`: series of a bounded length, whatever the journal holds. */
export interface ChartsAnswer {
  /** The journal is still being read: ask again. */
  readonly isPartial: boolean;
  /** When the last run began; the others begin at their first point. */
  readonly runs: readonly { readonly startedAt: string; readonly endedAt?: string }[];
  /** Item-tasks that are not over, and those that failed. */
  readonly burnDown: readonly { readonly at: string; readonly left: number; readonly failed: number }[];
  readonly concurrency: readonly {
    readonly at: string;
    readonly task: string;
    readonly size: number;
    readonly reason: string;
  }[];
  /** A sample of at most 2,000 item-tasks. */
  readonly items: readonly ChartItem[];
  readonly itemsLeftOut: number;
  /** By tenth of the table, for each task; null: too few rows have ended. */
  readonly firstAttempts: readonly {
    readonly task: string;
    readonly tenths: readonly { readonly succeeded: number; readonly ended: number }[] | null;
  }[];
  readonly spend: readonly {
    readonly role: string;
    readonly agent: string;
    readonly model?: string;
    readonly usage: Usage;
  }[];
}

export interface ChartItem {
  readonly row: number;
  readonly item: string;
  readonly task: string;
  readonly at: string;
  readonly ms: number;
  readonly costUsd?: number;
  readonly status: Status;
}

/** `GET /api/journal?shift=ID&type=T&task=T&item=ITEM&before=CURSOR`: the latest first, at most 200. */
export interface JournalAnswer {
  readonly events: readonly { readonly position: string; readonly event: NightshiftEvent }[];
  /** For the next page; absent: there is no more. */
  readonly before?: string;
}

/**
 * `GET /api/stream?shift=ID&shift=ID...`: server-sent events. Each message is one `StreamMessage` as JSON. The id of a
 * message is the position in all journals that are followed (`core/page/stream-position.ts`). `Last-Event-ID`, or
 * `after=` in the query, resumes there, also at a server that was restarted: no event is missing and none comes twice.
 */
export type StreamMessage =
  | { readonly kind: 'event'; readonly shift: ShiftId; readonly event: NightshiftEvent }
  /** What is at work now; only when it changed. It has no id. */
  | { readonly kind: 'sessions'; readonly shift: ShiftId; readonly sessions: readonly SessionAnswer[] }
  /** The table or a document changed, perhaps without an event. It has no id. */
  | { readonly kind: 'changed'; readonly shift: ShiftId; readonly version: string };
