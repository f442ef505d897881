/** How the screen reads English: words, their stems, sentences. */

const FUNCTION_WORDS = new Set(
  `the a an of to in on at is are be been being was were it its this that these those for with without from by as and or
  not but if when then than so do does did done has have had can could may might must should will would shall no nor all
  each every only before after while until till because since where which who whose what how why you your there their
  them they he she his her we our us i my me into out over under up down again once both some any more most less few
  other others another such same own also too very even still yet never always often here now one two three first last
  about between through during against instead rather next just don't doesn't isn't aren't can't won't shouldn't
  mustn't needn't it's there's that's either neither whether although though unless already`.split(/\s+/),
);

export function isFunctionWord(word: string): boolean {
  return FUNCTION_WORDS.has(word);
}

/** In lower case, with apostrophes inside of words. */
export function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}\p{M}]+(?:'\p{L}+)*/gu) ?? []
  );
}

/** A dot inside of a word, as in `package.json`, ends no sentence. */
export function sentencesOf(text: string): string[] {
  return text.split(/[!?;:\n]+|\.(?=\s|$)/).filter((sentence) => sentence.trim() !== '');
}

/** `tests`, `testing` and `tested` have the stem of `test`. */
export function stem(word: string): string {
  const lower = word.toLowerCase();
  const bare = lower.length > 5 ? lower.replace(/(?:ing|ed)$/, '') : lower;
  const singular = bare.replace(/(?<=[^s])s$/, '').replace(/ie$/, 'y');
  return singular.length > 3 ? singular.replace(/e$/, '').replace(/([bdgmnprt])\1$/, '$1') : singular;
}

export function contentStems(text: string): string[] {
  return wordsOf(text)
    .filter((word) => !FUNCTION_WORDS.has(word))
    .map(stem);
}
