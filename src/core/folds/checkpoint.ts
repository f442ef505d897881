import type { LessonState } from '../learning/lesson.ts';
import type { Lesson, LessonVote, Recommendation } from '../model/events.ts';
import type { Usage } from '../model/model.ts';
import type { TallyState } from '../schedule/tally.ts';
import type { ItemHistory } from './history.ts';
import type { LastRun } from './last-run.ts';

/**
 * The folded history at the beginning of a journal file, so that a reader needs no older file. It has one line for
 * each item. Events between its first and last line are already counted in it; they are kept to be shown.
 */
export type CheckpointLine =
  | {
      readonly type: 'checkpoint:started';
      readonly at: string;
      /** The run that wrote it. */
      readonly run: string;
      readonly shift: string;
      readonly usage: Usage;
      readonly tally: TallyState;
      readonly lastRun?: LastRun;
      readonly firstAt?: string;
      readonly lastAt?: string;
    }
  | {
      readonly type: 'checkpoint:item';
      readonly task: string;
      readonly item: string;
      readonly history: ItemHistory;
      /** Not yet in the Steps. */
      readonly recommendations?: readonly Recommendation[];
      /** Not counted yet. */
      readonly votes?: readonly LessonVote[];
    }
  | { readonly type: 'checkpoint:lesson'; readonly id: string; readonly state: LessonState }
  | { readonly type: 'checkpoint:steps'; readonly task: string; readonly change: StepsChange }
  /** The highest number of a line of an order that a worker carries out. */
  | { readonly type: 'checkpoint:order'; readonly order: string; readonly worker: string; readonly n: number }
  /** Reset by a `retry` with these flags that was interrupted. */
  | {
      readonly type: 'checkpoint:retry';
      readonly task: string;
      readonly item: string;
      readonly flags: readonly string[];
    }
  | { readonly type: 'checkpoint:ended' };

/** Where a version of the Steps came from. */
export interface StepsChange {
  readonly at: string;
  readonly run: string;
  readonly to: string;
  readonly summary: string;
  readonly batch: number;
  readonly lessons: readonly Lesson[];
}

export function isCheckpoint(line: unknown): line is CheckpointLine {
  if (!isObject(line)) return false;
  switch (line.type) {
    case 'checkpoint:started':
      return isObject(line.usage) && isTally(line.tally);
    case 'checkpoint:item':
      return isText(line.task) && isText(line.item) && isItem(line.history);
    case 'checkpoint:steps':
      return isText(line.task) && isObject(line.change) && isText(line.change.to) && Array.isArray(line.change.lessons);
    case 'checkpoint:lesson':
      return isText(line.id) && isText(line.state);
    case 'checkpoint:order':
      return isText(line.order) && isText(line.worker) && Number.isSafeInteger(line.n);
    case 'checkpoint:retry':
      return isText(line.task) && isText(line.item) && Array.isArray(line.flags) && line.flags.every(isText);
    default:
      return line.type === 'checkpoint:ended';
  }
}

function isTally(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value.streaks) || !Array.isArray(value.failurePoints)) return false;
  const numbers = [value.failures, value.earlierMs];
  return numbers.every((each) => typeof each === 'number') && [value.run, value.startedAt, value.lastAt].every(isText);
}

function isItem(value: unknown): boolean {
  return isObject(value) && typeof value.attempts === 'number' && isObject(value.usage) && isObject(value.captured);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
