import { findAddresses, findEnvironment, findPaths, isTopLevel } from './addresses.ts';
import { readAuthor, withoutKnownCode } from './author.ts';
import { findCharacters } from './characters.ts';
import { findCommands } from './commands.ts';
import { findControl } from './control.ts';
import { findEncoded, readings } from './encoded.ts';
import type { Finding } from './finding.ts';
import { findLanguage } from './language.ts';
import { findMarkup } from './markup.ts';
import { createSecretFinder, type Metadata, readRowValues } from './row-values.ts';
import { findWeakening } from './weakening.ts';
import { isFunctionWord } from './words.ts';

export interface ScreenContext {
  /** The Steps without lessons. */
  readonly authorSteps: readonly string[];
  /** What placeholders may name. */
  readonly columns: ReadonlySet<string>;
  readonly secrets: readonly string[];
  /** The metadata of all rows; can be read more than once. */
  readonly rows: Iterable<Metadata>;
  /** Texts that the screen will be asked about: the rows are read once for all of them. */
  readonly texts?: readonly string[];
}

/** Why a lesson needs a person before it may become part of the Steps; `others` would stand beside it. */
export type Screen = (text: string, others: readonly string[]) => string | undefined;

/**
 * The screen that every lesson passes before it is applied by itself, in every mode (rule L3). It is a net with holes:
 * what limits the harm is that a lesson is only prose, without anything that the author's Steps do not have.
 */
export function createScreen(context: ScreenContext): Screen {
  const find = remembering(createFinder(context));
  const known = context.authorSteps.join('\n');
  const columnOf = new Map<string, string | undefined>();
  const columnIn = (text: string): string | undefined => {
    if (!columnOf.has(text)) {
      const unread = [text, ...(context.texts ?? [])].filter((each) => !columnOf.has(each));
      const found = readRowValues(context.rows, [...new Set(unread)], known);
      for (const each of unread) columnOf.set(each, found.get(each));
    }
    return columnOf.get(text);
  };
  return (text, others) => {
    const [first] = find(text);
    if (first !== undefined) return first.reason;
    const together = findTogether(text, others, find);
    if (together !== undefined) return `together with another lesson, ${together.reason}`;
    const column = columnIn(text);
    return column === undefined ? undefined : `holds a value of one row (column ${column})`;
  };
}

function remembering<T>(read: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    if (!results.has(text)) results.set(text, read(text));
    return results.get(text)!;
  };
}

/** A lesson is a sentence or a few. */
const LONGEST = 600;

/** Finds what a text itself holds, whatever the rows are. */
export function createFinder(context: Omit<ScreenContext, 'rows' | 'texts'>): (text: string) => Finding[] {
  const author = readAuthor(context.authorSteps);
  const holdsSecret = createSecretFinder(context.secrets);
  return (text) => {
    if (text.length > LONGEST) return [{ kind: 'markup', reason: `is longer than ${LONGEST} characters` }];
    const hidden = findCharacters(text, author.texts);
    // What follows reads the text as people see it.
    if (hidden.length > 0) return hidden;
    const composed = text.normalize('NFKC').replaceAll('\r\n', '\n');
    const line = composed.replace(/\s+/g, ' ').trim();
    const fresh = withoutKnownCode(line, author);
    return [
      ...(holdsSecret(composed) ? [{ kind: 'secret', reason: 'holds a secret' } as const] : []),
      ...findMarkup(composed, context.columns),
      ...findEnvironment(fresh),
      ...findAddresses(fresh),
      ...findPaths(fresh),
      ...findEncoded(fresh),
      ...readings(fresh).flatMap((reading) => findCommands(reading, author)),
      ...readings(line).flatMap((reading) => [...findControl(reading, author), ...findWeakening(reading, author)]),
      ...findLanguage(fresh, author),
    ];
  };
}

/** How much of two lessons is read as one: a sentence that one begins and the other ends. */
const WORDS_BEFORE = 6;
const WORDS_BEHIND = 8;

/** What two lessons hold together but neither holds alone. */
function findTogether(text: string, others: readonly string[], find: (text: string) => Finding[]): Finding | undefined {
  for (const other of others) {
    // The language of a few words can't be told.
    const joined = seams(text, other).flatMap((seam) => find(seam).filter(({ kind }) => kind !== 'language'));
    const alone = new Set(joined.length > 0 ? [...find(text), ...find(other)].map(({ reason }) => reason) : []);
    const fresh = joined.find(({ reason }) => !alone.has(reason));
    if (fresh !== undefined) return fresh;
  }
  return undefined;
}

/** The places at which two texts meet, in both orders. */
function seams(a: string, b: string): string[] {
  return [...seamsOf(a.trim(), b.trim()), ...seamsOf(b.trim(), a.trim())];
}

/** A capital letter begins a new sentence, unless the one before it has hardly begun or breaks off. */
function seamsOf(first: string, second: string): string[] {
  const words = first.split(/\s+/);
  const breaksOff = words.length <= 3 || isFunctionWord(words.at(-1)!.toLowerCase());
  const isNewSentence = /^["'(]*\p{Lu}/u.test(second);
  if (isNewSentence && !breaksOff) return [];
  const behind = second.split(/\s+/);
  const end = words.slice(-WORDS_BEFORE).join(' ');
  const start = behind.slice(0, WORDS_BEHIND).join(' ');
  const isOneWord = !isNewSentence && canContinue(words.at(-1)!, behind[0]!);
  return isOneWord ? [`${end} ${start}`, `${end}${start}`] : [`${end} ${start}`];
}

/** Whether two pieces could be one word, path or address: `cu` and `rl`, `http:` and `//`, `example.` and `com`. */
function canContinue(end: string, start: string): boolean {
  if (/^[./:@~$]/.test(start) || /^[^\p{L}\p{N}]+$/u.test(end)) return true;
  return end.endsWith('.') ? isTopLevel(start) : /^[\p{L}-]+$|[:/@_-]$/u.test(end);
}
