/** How similar two sentences are, judged by their words. */

/** Drops case, punctuation and white space: texts that differ only in these say the same. */
export function normalise(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
}

/** Sentences that share this part of their words count as the same. */
const ALIKE = 0.8;

/** A different number, or one of these words, changes the meaning, however many words are the same. */
const TELLING =
  /^(\p{N}.*|no|not|never|none|without|avoid|skip|always|only|except|unless|before|after|cannot|(do|does|is|are|ca|wo|should|must)nt)$/u;

/** `contrary`: the same except for a negation or a number, so at most one of the two can be correct. */
export function compare(a: string, b: string): 'same' | 'contrary' | 'different' {
  const [left, right] = [split(a), split(b)];
  if (jaccard(left.plain, right.plain) < ALIKE) return 'different';
  return jaccard(left.telling, right.telling) === 1 ? 'same' : 'contrary';
}

/** The share of the words of `part` that are in `whole`, up to 1. */
export function share(part: string, whole: string): number {
  const words = new Set(normalise(part).split(' '));
  return common(words, new Set(normalise(whole).split(' '))) / words.size;
}

function split(text: string): { plain: Set<string>; telling: Set<string> } {
  const words = normalise(text).split(' ');
  return {
    plain: new Set(words.filter((word) => !TELLING.test(word))),
    telling: new Set(words.filter((word) => TELLING.test(word))),
  };
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const both = common(a, b);
  const either = a.size + b.size - both;
  return either === 0 ? 1 : both / either;
}

function common(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let count = 0;
  for (const word of a) if (b.has(word)) count += 1;
  return count;
}
