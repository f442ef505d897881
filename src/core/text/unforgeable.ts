import { createHash } from 'node:crypto';

/** A code that occurs in none of the texts, so no cell can forge it. */
export function unforgeable(texts: readonly string[], seed: string): string {
  for (let round = 0; ; round++) {
    const code = createHash('sha256')
      .update(JSON.stringify([round, seed]))
      .digest('hex')
      .slice(0, 12);
    if (!texts.some((text) => text.includes(code))) return code;
  }
}
