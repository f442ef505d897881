import { contentStems, sentencesOf, stem, wordsOf } from './words.ts';

/** What the Steps have that people wrote: a lesson may use it again. */
export interface Author {
  readonly texts: readonly string[];
  /** Code spans, and words that are no plain words, in lower case. */
  readonly code: ReadonlySet<string>;
  /** The stems of all words outside of code. */
  readonly stems: ReadonlySet<string>;
  readonly sentences: readonly AuthorSentence[];
}

interface AuthorSentence {
  /** The number of the step. */
  readonly step: number;
  /** The stems of the verbs that its parts begin with. */
  readonly actions: ReadonlySet<string>;
  /** The stems of the words that carry its meaning, actions included. */
  readonly content: ReadonlySet<string>;
}

const CODE_SPAN = /`+([^`]+)`+/g;

export function readAuthor(texts: readonly string[]): Author {
  const sentences = texts.flatMap((text, index) =>
    sentencesOf(text).map((sentence): AuthorSentence => {
      const parts = sentence.split(/,| and | then /i);
      const actions = parts.flatMap((part) => wordsOf(part).slice(0, 1).map(stem));
      return { step: index + 1, actions: new Set(actions), content: new Set(contentStems(sentence)) };
    }),
  );
  const code = texts.flatMap((text) => [
    ...[...text.matchAll(CODE_SPAN)].map(([, span]) => span!.trim().toLowerCase()),
    ...tokensOf(text).filter((token) => !isPlainWord(token)),
  ]);
  const prose = texts.flatMap((text) => wordsOf(text.replace(CODE_SPAN, ' ')).map(stem));
  return { texts, code: new Set(code), stems: new Set(prose), sentences };
}

/** The lesson with what the author's Steps have, such as `npm test` or an address, replaced by a plain word. */
export function withoutKnownCode(text: string, { code }: Author): string {
  return text
    .replace(CODE_SPAN, (span, content: string) => (code.has(content.trim().toLowerCase()) ? 'it' : span))
    .replace(/\S+/g, (token) => {
      const trimmed = trimToken(token);
      return !isPlainWord(trimmed) && code.has(trimmed) ? token.toLowerCase().replace(trimmed, 'it') : token;
    });
}

function tokensOf(text: string): string[] {
  return text.split(/\s+/).map(trimToken);
}

function trimToken(token: string): string {
  return token
    .toLowerCase()
    .replace(/^["'`(,;:!?]+|["'`),;:!?]+$/g, '')
    .replace(/\.+$/, '');
}

function isPlainWord(token: string): boolean {
  return /^[\p{L}\p{N}]*$/u.test(token);
}
