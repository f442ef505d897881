export interface WatchRequest {
  readonly folder: string;
  /** Globs of files that are watched although git ignores them. */
  readonly protect: readonly string[];
  /** Waits until nobody else judges there, and nobody begins to while it lasts. */
  readonly alone: boolean;
  readonly signal: AbortSignal;
}

/** A watch over a folder while somebody judges there. Disposed when the judging has ended. */
export interface FolderWatch extends Disposable {
  /** What was changed since it began; nothing where nobody could say who did it. */
  changes(): Promise<FolderChanges>;
}

export interface FolderChanges {
  /** Relative to the folder. */
  readonly files: readonly string[];
  /** Others judged there too meanwhile, so it may have been one of them. */
  readonly isShared: boolean;
}
