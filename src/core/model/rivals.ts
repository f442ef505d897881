/** Beyond this many comparisons, only texts that are equal except for case, spaces and punctuation are found. */
const MOST_COMPARISONS = 1 << 20;

/** Short texts share some pairs by chance; a disguised row shares most. */
const ALIKE = 0.7;

/**
 * Whether the text of an edited row is closer to another row than to its presumed origin: then it is another item in
 * disguise. Compares pairs of adjacent letters and digits.
 */
export class Rivals {
  readonly #texts: readonly string[];
  readonly #owners = new Map<string, number[]>();
  readonly #pairs: (Int32Array | undefined)[] = [];
  #comparisons = 0;

  constructor(texts: readonly string[]) {
    this.#texts = texts.map(plain);
    for (const [owner, text] of this.#texts.entries()) {
      const others = this.#owners.get(text);
      if (others) others.push(owner);
      else this.#owners.set(text, [owner]);
    }
  }

  /**
   * `owner`: the index of the presumed origin. `isRival`: whether another row would gain a status. `isTieEnough`: an
   * equally close row is a rival, too.
   */
  hasRival(text: string, owner: number, isRival: (other: number) => boolean, isTieEnough: boolean): boolean {
    const given = plain(text);
    const isOwn = given === this.#texts[owner];
    const isOther = (other: number) => other !== owner && isRival(other);
    if ((!isOwn || isTieEnough) && this.#owners.get(given)?.some(isOther)) return true;
    if (isOwn) return false;
    this.#comparisons += this.#texts.length;
    if (this.#comparisons > MOST_COMPARISONS) return false;
    const pairs = pairsIn(given);
    const own = shared(pairs, this.#pairsOf(owner));
    return this.#texts.some((_, other) => {
      if (!isOther(other)) return false;
      const theirs = shared(pairs, this.#pairsOf(other));
      return theirs >= ALIKE && (theirs > own || (isTieEnough && theirs === own));
    });
  }

  #pairsOf(owner: number): Int32Array {
    const known = this.#pairs[owner] ?? pairsIn(this.#texts[owner]!);
    this.#pairs[owner] = known;
    return known;
  }
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

function pairsIn(text: string): Int32Array {
  const pairs = new Int32Array(Math.max(0, text.length - 1));
  for (let at = 0; at < pairs.length; at++) pairs[at] = text.charCodeAt(at) * 0x10000 + text.charCodeAt(at + 1);
  return pairs.sort();
}

/** From 0 to 1: the share of pairs that both have (Dice). */
function shared(a: Int32Array, b: Int32Array): number {
  let both = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) both++;
    const [first, second] = [a[i]!, b[j]!];
    if (first <= second) i++;
    if (second <= first) j++;
  }
  return (2 * both) / Math.max(1, a.length + b.length);
}
