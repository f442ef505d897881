/**
 * What a `retry` with these flags has set back, by item the first task of it, until a run of it has ended by itself.
 */
export interface Retrying {
  readonly flags: readonly string[];
  readonly items: Map<string, string>;
}

/**
 * With these set back too, in Task Order: the first task of an item counts. Another retry takes the place of an
 * earlier one.
 */
export function setBack(
  before: Retrying | undefined,
  flags: readonly string[],
  cells: readonly { readonly item: string; readonly task: string }[],
): Retrying {
  const retrying = isSameRetry(before, flags) ? before : { flags, items: new Map<string, string>() };
  for (const { item, task } of cells) if (!retrying.items.has(item)) retrying.items.set(item, task);
  return retrying;
}

export function isSameRetry(retrying: Retrying | undefined, flags: readonly string[]): retrying is Retrying {
  return retrying?.flags.join('\n') === flags.join('\n');
}
