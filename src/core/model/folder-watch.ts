export interface WatchRequest {
  readonly folder: string;
  /** Globs of files that are watched although git ignores them. */
  readonly protect: readonly string[];
  /** Waits until no other qa judges there, and keeps others from starting. */
  readonly alone: boolean;
  /** The folder is a workspace: no other item and no other shift works there. */
  readonly isWorkspace?: boolean;
  readonly signal: AbortSignal;
}

/** Watches a folder while a qa judges there. Disposed when the qa has ended. */
export interface FolderWatch extends Disposable {
  /** What changed since it began; nothing if the cause would be unknown. */
  changes(): Promise<FolderChanges>;
}

export interface FolderChanges {
  /** Relative to the folder. */
  readonly files: readonly string[];
  /** Other qa judged there at the same time, so it may have been one of them. */
  readonly isShared: boolean;
}
