/** A choice of `size` of the candidates that the seed decides, in their own order: the same seed, the same choice. */
export function sample(candidates: readonly number[], size: number, seed: string): number[] {
  const random = generator(seed);
  const pool = [...candidates];
  const taken = Math.min(size, pool.length);
  // The beginning of a Fisher-Yates shuffle: as much of it as is needed.
  for (let i = 0; i < taken; i++) {
    const j = i + Math.floor(random() * (pool.length - i));
    [pool[i], pool[j]] = [pool[j]!, pool[i]!];
  }
  return pool.slice(0, taken).sort((a, b) => a - b);
}

/** Numbers from 0 to 1: mulberry32, whose state begins with the FNV-1a hash of the seed. Small, and the same everywhere. */
function generator(seed: string): () => number {
  let state = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
