/** A `retry` whose run has not finished: the same command continues it. */
export interface UnfinishedRetry {
  readonly flags: readonly string[];
  /** The first task that was reset, by item. */
  readonly items: Map<string, string>;
}

/** Adds reset cells, given in Task Order. A retry with other flags replaces the previous one. */
export function noteReset(
  before: UnfinishedRetry | undefined,
  flags: readonly string[],
  cells: readonly { readonly item: string; readonly task: string }[],
): UnfinishedRetry {
  const retrying = isSameRetry(before, flags) ? before : { flags, items: new Map<string, string>() };
  for (const { item, task } of cells) if (!retrying.items.has(item)) retrying.items.set(item, task);
  return retrying;
}

export function isSameRetry(
  retrying: UnfinishedRetry | undefined,
  flags: readonly string[],
): retrying is UnfinishedRetry {
  return retrying?.flags.join('\n') === flags.join('\n');
}
