import type { Counts } from '../core/model/events.ts';

/** The documents of a shift as a run has them in force, and what it writes to them. Each write is all or nothing. */
export interface Documents {
  /** Tells the shift's folder from another one that was put in its place (rule M6); `gone` if there is none. */
  folderId(): Promise<string>;
  /** After a batch: Progress, and the new size unless a person set another one meanwhile. Answers the size in force. */
  finishBatch(counts: Counts, size: SizeChange | undefined): Promise<number | undefined>;
  /** New Steps if the file is still the one that they were made from; answers the new text, undefined if it is not. */
  writeSteps(task: string, from: string, steps: readonly string[]): Promise<string | undefined>;
  /** Keeps this version of a task file; the same text is kept once (rule L4). */
  keepVersion(task: string, text: string): Promise<void>;
  /**
   * An agent is at work until this is disposed of, which is after its processes have ended: what others change meanwhile
   * is put back (rule D5).
   */
  protect(item?: ItemInFlight): AsyncDisposable;
  /** Looks now; answers what was put back since this was asked last. */
  putBack(): Promise<readonly DocumentEdit[]>;
}

export interface ItemInFlight {
  readonly task: string;
  readonly index: number;
}

/** An edit of a document that was put back. `folder`: the shift's. `writers`: keys of items that had it open to write. */
export interface DocumentEdit {
  readonly what: string;
  readonly file: string;
  readonly folder: string;
  readonly writers: ReadonlySet<string>;
}

/** The batch size that a batch began with and the one it led to (rule P4). */
export interface SizeChange {
  readonly was: number | undefined;
  readonly to: number;
}
