export function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((each) => ({ each, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}
