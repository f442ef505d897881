/** Consecutive groups of at most this size together; one that is larger is alone. */
export function bySize<T>(all: readonly T[], most: number, sizeOf: (each: T) => number): T[][] {
  const groups: T[][] = [];
  let size = 0;
  for (const each of all) {
    size += sizeOf(each);
    if (groups.length > 0 && size <= most) {
      groups.at(-1)!.push(each);
      continue;
    }
    groups.push([each]);
    size = sizeOf(each);
  }
  return groups;
}
