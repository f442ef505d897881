import type { Counts } from '../core/events.ts';

/** What the engine writes to a shift's documents. Each call is all or nothing. */
export interface Documents {
  /** Tells the shift's folder from another one that was put in its place (rule M6). */
  folderId(): Promise<string>;
  /** After a batch: Progress, and the new size unless a person set another one meanwhile. Answers the size in force. */
  finishBatch(counts: Counts, size: SizeChange | undefined): Promise<number | undefined>;
  /** New Steps if the file is still the one that they were made from; answers the new text, undefined if it is not. */
  writeSteps(task: string, from: string, steps: readonly string[]): Promise<string | undefined>;
  /** Keeps this version of a task file; the same text is kept once (rule L4). */
  keepVersion(task: string, text: string): Promise<void>;
  /** Whether two texts of a task file have the same Configuration and Validation. */
  isProtectedSame(text: string, claimed: string): boolean;
  /** Puts Configuration and Validation back as claimed (rule D5); answers where the other text went, if they differed. */
  putBack(task: string, claimed: string): Promise<string | undefined>;
}

/** The batch size that a batch began with and the one it led to (rule P4). */
export interface SizeChange {
  readonly was: number | undefined;
  readonly to: number;
}
