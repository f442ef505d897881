import type { LessonBook } from '../core/learning/lesson.ts';
import type { Counts } from '../core/model/events.ts';

/**
 * The documents of a shift that are in force for a run, and what the run writes to them. Each write is all or
 * nothing.
 */
export interface Documents {
  /** Identifies the shift's folder, so that a replacement is noticed (rule M6); `gone` if there is none. */
  folderId(): Promise<string>;
  /** False if the folder was moved or replaced, or if both manifest and table are gone from it (rule M6). */
  isThere(): Promise<boolean>;
  /**
   * Writes Progress after a batch, and the new size unless you set another one meanwhile. Returns the size in force.
   */
  finishBatch(counts: Counts, size: SizeChange | undefined): Promise<number | undefined>;
  /**
   * Writes new Steps if the file is still the one that they were made from. Returns the new text, undefined if it is
   * not.
   */
  writeSteps(task: string, from: string, steps: readonly string[]): Promise<string | undefined>;
  /** Writes `lessons.json` if it still has the text `from`. Returns the new text, undefined if it has another one. */
  writeLessons(from: string | undefined, book: LessonBook): Promise<string | undefined>;
  /** Keeps this version of a task file; the same text only once (rule L4). */
  keepVersion(task: string, text: string): Promise<void>;
  /**
   * While an agent works, edits by others are undone (rule D5). Dispose of it after the processes of the agent have
   * ended.
   */
  protect(item?: RowTask): AsyncDisposable;
  /** Counts the edits by others that took effect while an agent worked: a lower limit, or what you accepted. */
  readonly revision: number;
  /** Checks now. Returns the edits that were undone since the last call. */
  putBack(): Promise<readonly DocumentEdit[]>;
}

/** A running item-task, by its row. */
export interface RowTask {
  readonly task: string;
  readonly index: number;
}

/**
 * An edit of a document that was undone. `folder`: the shift's. `writers`: keys of the items whose processes had it
 * open to write.
 */
export interface DocumentEdit {
  readonly what: string;
  readonly file: string;
  readonly folder: string;
  readonly writers: ReadonlySet<string>;
}

/** The batch size before and after a batch (rule P4). */
export interface SizeChange {
  readonly was: number | undefined;
  readonly to: number;
}
