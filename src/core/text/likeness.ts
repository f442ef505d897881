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
const ALIKE = 0.75;

/** A different number, a negation, or one of these words changes the meaning, however many words are the same. */
const TELLING = /^(\p{N}.*|skip|always|only|except|unless|before|after)$/u;
/** `no unit` and `without a unit` are the same, and so are `never` and `do not`. */
const NEGATION = /^(no|not|never|none|without|avoid|cannot|(do|does|is|are|ca|wo|should|must)nt)$/u;

/** Words that say nothing by themselves. */
const FILLER = new Set(
  (
    'a an the this that these those it its they them their there is are be been was were has have had do does as of ' +
    'to in on at by for from with and or so then also please must should will would can which you your'
  ).split(' '),
);

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

/** The share of the meaningful words of the shorter text that the other one has, up to 1. */
export function overlap(a: string, b: string): number {
  const [left, right] = [split(a).plain, split(b).plain];
  return common(left, right) / Math.max(1, Math.min(left.size, right.size));
}

/** Whether both have numbers, and not the same ones. */
export function differInNumbers(a: string, b: string): boolean {
  const [left, right] = [numbersIn(a), numbersIn(b)];
  return left.size > 0 && right.size > 0 && jaccard(left, right) < 1;
}

function numbersIn(text: string): Set<string> {
  return new Set(
    normalise(text)
      .split(' ')
      .filter((word) => /^\p{N}/u.test(word)),
  );
}

interface Words {
  readonly plain: ReadonlySet<string>;
  readonly telling: ReadonlySet<string>;
}

/** Lessons are compared again and again, each with all others. */
const seen = new Map<string, Words>();
const MOST_SEEN = 2000;

function split(text: string): Words {
  const known = seen.get(text);
  if (known) return known;
  if (seen.size >= MOST_SEEN) seen.clear();
  const words = read(text);
  seen.set(text, words);
  return words;
}

function read(text: string): Words {
  const words = normalise(text).split(' ');
  const telling = words.filter((word) => TELLING.test(word));
  const isNegated = words.some((word) => NEGATION.test(word));
  const plain = words.filter((word) => !TELLING.test(word) && !NEGATION.test(word));
  const meaningful = plain.filter((word) => !FILLER.has(word));
  return {
    plain: new Set((meaningful.length > 0 ? meaningful : plain).map(singular)),
    telling: new Set([...telling, ...(isNegated ? ['not'] : [])]),
  };
}

/** `prices` and `price` are one word; `status` and `address` stay. */
function singular(word: string): string {
  return word.length > 3 && /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
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
