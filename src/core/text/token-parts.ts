/** This many consecutive characters of a key are no coincidence. */
const SHORTEST_PART = 8;
/** What looks like a key rather than words: long, in one piece, with digits and letters. */
const TOKEN = /[A-Za-z0-9_-]{20,}/g;
/** The same with the characters of base64, as in cloud keys; a path does not mix capitals and digits. */
const BASE64_TOKEN = /^(?=.*[A-Z].*[A-Z])(?=.*[a-z].*[a-z])(?=.*\d)[A-Za-z0-9+/_-]{32,}={0,2}$/;
const FEWEST_DIGITS = 3;
const FEWEST_LETTERS = 3;

const CASE_CHANGE = /[a-z](?=[A-Z])|[A-Z](?=[a-z])/g;
const FEWEST_CHANGES = 3;

/** A value that repeats itself has the same part in many places. */
const MOST_PLACES = 16;

interface Place {
  readonly name: string;
  readonly token: string;
  readonly offset: number;
}

/**
 * Programs print keys in part: `sk-live-51H8xQ...`, the text column of a hex dump, a truncated line. Of values that
 * look random, any 8 consecutive characters with at least one digit are found; a part of `https://` or `production`
 * reveals nothing.
 */
export class TokenParts {
  readonly #places = new Map<string, Place[]>();
  readonly #beginnings = new Set<string>();

  add(value: string, name: string): void {
    const isBase64 = BASE64_TOKEN.test(value.trim());
    for (const token of (isBase64 ? [value.trim()] : value.match(TOKEN)) ?? []) {
      const isMixed = count(token, /\d/g) >= FEWEST_DIGITS && count(token, /[A-Za-z]/g) >= FEWEST_LETTERS;
      if (!isBase64 && !isMixed) continue;
      for (let offset = 0; offset + SHORTEST_PART <= token.length; offset++) {
        const part = token.slice(offset, offset + SHORTEST_PART);
        const isWord = !/\d/.test(part) || !/[A-Za-z]/.test(part);
        if (isWord && !(isBase64 && count(part, CASE_CHANGE) >= FEWEST_CHANGES)) continue;
        const places = this.#places.get(part) ?? [];
        if (places.length < MOST_PLACES) this.#places.set(part, [...places, { name, token, offset }]);
        for (let length = 1; length < SHORTEST_PART; length++) this.#beginnings.add(part.slice(0, length));
      }
    }
  }

  /** The two characters that parts begin with. */
  *pairs(): Iterable<string> {
    for (const part of this.#places.keys()) yield part.slice(0, 2);
  }

  /** The longest part here; `undecided` if more text could make one, or a longer one. */
  matchAt(text: string, at: number, ended: boolean): { name: string; end: number } | 'undecided' | undefined {
    const head = text.slice(at, at + SHORTEST_PART);
    if (head.length < SHORTEST_PART) return !ended && this.#beginnings.has(head) ? 'undecided' : undefined;
    let longest: { name: string; end: number } | undefined;
    for (const { name, token, offset } of this.#places.get(head) ?? []) {
      let end = at + SHORTEST_PART;
      let next = offset + SHORTEST_PART;
      while (next < token.length && text[end] === token[next]) {
        end++;
        next++;
      }
      if (!ended && end === text.length && next < token.length) return 'undecided';
      if (end > (longest?.end ?? 0)) longest = { name, end };
    }
    return longest;
  }
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
