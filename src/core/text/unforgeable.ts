import { createHash } from 'node:crypto';

/** A code that none of the texts holds: whoever knew the first one and named it in a cell finds another one taken. */
export function unforgeable(texts: readonly string[], seed: string): string {
  for (let round = 0; ; round++) {
    const code = createHash('sha256')
      .update(JSON.stringify([round, seed]))
      .digest('hex')
      .slice(0, 12);
    if (!texts.some((text) => text.includes(code))) return code;
  }
}
