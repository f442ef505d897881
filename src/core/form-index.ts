import { type Form, formsOf } from './secret-forms.ts';
import { TokenParts } from './token-parts.ts';

interface NamedForm extends Form {
  readonly name: string;
}

/**
 * Forms by the two characters that they may begin with. Nearly every place of a text is passed over by one look into a
 * table: an agent may print a lot.
 */
export class FormIndex {
  readonly #byPair = new Map<number, NamedForm[]>();
  readonly #plausible = new Uint8Array(1 << 16);
  readonly #firsts = new Set<string>();
  readonly #parts = new TokenParts();

  constructor(secrets: Readonly<Record<string, string>>) {
    for (const [name, value] of Object.entries(secrets)) {
      for (const form of formsOf(value)) this.#add({ ...form, name });
      this.#parts.add(value, name);
    }
    for (const pair of this.#parts.pairs()) this.#expect(pair);
  }

  #expect(pair: string): number {
    const key = pairAt(pair, 0);
    this.#plausible[key] = 1;
    this.#firsts.add(pair[0]!);
    return key;
  }

  #add(named: NamedForm): void {
    for (const pair of new Set(beginnings(named))) {
      const key = this.#expect(pair);
      const known = this.#byPair.get(key);
      if (known) known.push(named);
      else this.#byPair.set(key, [named]);
    }
  }

  /** The next place from `at` on where a form may begin, or the end. */
  next(text: string, at: number, ended: boolean): number {
    while (at < text.length - 1 && this.#plausible[pairAt(text, at)] === 0) at += 1;
    if (at !== text.length - 1) return at;
    return !ended && this.#firsts.has(text[at]!) ? at : text.length;
  }

  /** The longest form at this place, or a part of one; `undecided` if more text could make one, or a longer one. */
  matchAt(text: string, at: number, ended: boolean): { name: string; end: number } | 'undecided' | undefined {
    if (at === text.length - 1) return ended ? undefined : 'undecided';
    let longest: { name: string; end: number } | undefined;
    for (const form of this.#byPair.get(pairAt(text, at)) ?? []) {
      const found = matchForm(form, text, at);
      if (found.mayGrow && !ended) return 'undecided';
      if (found.end !== undefined && found.end > (longest?.end ?? 0)) longest = { name: form.name, end: found.end };
    }
    return longest ?? this.#parts.matchAt(text, at, ended);
  }
}

/** One byte of each of two characters: a coincidence costs a look at the form, and nothing else. */
function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) & 255) << 8) | (text.charCodeAt(at + 1) & 255);
}

/** The first two characters of all spellings of a form. */
function* beginnings({ units, isSpaced }: Form): Iterable<string> {
  const [first = [], second = []] = units;
  for (const spelling of first) {
    if (spelling.length > 1) yield spelling.slice(0, 2);
    else for (const next of [...second, ...GLUE_BEGINNINGS, ...(isSpaced ? ' :-,' : '')]) yield spelling + next[0]!;
  }
}

/** Encoders break lines, also where their output stands in JSON, a URL or a page; people indent and quote them. */
const BREAK = /(?:\r?\n|(?:\\+r)?\\+n|%0[Aa]|&#10;)/y;
const INDENT = /[ \t>|]{1,32}/y;
const GLUE_BEGINNINGS = '\r\n\\%&';
const CUT_GLUE = /^(?:\r|\\+|\\+r\\*|%0?|&#?1?0?|(?:\r?\n|(?:\\+r)?\\+n|%0[Aa]|&#10;)[ \t>|]{0,32})$/;
const LONGEST_CUT_GLUE = 64;
const SPACE = /(?:[ :-]|,? ?0x|\\+x)/y;
const CUT_SPACE = /^(?:,? ?0?|\\+)$/;

/**
 * Follows all readings of a text at once: a backslash may be one of the value or the beginning of an escape. `end`: of
 * the longest reading that is the whole form. `mayGrow`: the text ends in the middle of one.
 */
function matchForm({ units, isSpaced }: Form, text: string, at: number): { end?: number; mayGrow: boolean } {
  let places = [at];
  let mayGrow = false;
  for (let number = 0; number < units.length; number++) {
    const unit = units[number]!;
    // Most characters have one spelling, and most texts one reading.
    if (unit.length === 1 && places.length === 1 && text.startsWith(unit[0]!, places[0]!)) {
      places[0]! += unit[0]!.length;
      continue;
    }
    const reached = new Set<number>();
    for (const place of places) {
      const starts = number === 0 ? [place] : [place, ...behindGlue(text, place, isSpaced)];
      for (const from of starts) mayGrow = readUnit(unit, text, from, reached) || mayGrow;
      mayGrow ||= number > 0 && isCutInGlue(text, place, isSpaced);
    }
    if (reached.size === 0) return { mayGrow };
    places = [...reached];
  }
  return { end: Math.max(...places), mayGrow };
}

/** Adds the places behind the spellings that stand here; answers whether the text ends in the middle of one. */
function readUnit(unit: readonly string[], text: string, from: number, reached: Set<number>): boolean {
  let isCut = from >= text.length;
  for (const spelling of unit) {
    if (text.startsWith(spelling, from)) reached.add(from + spelling.length);
    else if (text.length - from < spelling.length && spelling.startsWith(text.slice(from))) isCut = true;
  }
  return isCut;
}

function behindGlue(text: string, at: number, isSpaced: boolean): number[] {
  const found: number[] = [];
  const next = text[at];
  if (next === undefined) return found;
  if (GLUE_BEGINNINGS.includes(next)) {
    const behind = endOf(BREAK, text, at);
    const indented = behind && endOf(INDENT, text, behind);
    found.push(...[behind, indented].filter((each) => each !== undefined));
  }
  if (isSpaced) {
    const behind = endOf(SPACE, text, at);
    if (behind !== undefined) found.push(behind);
  }
  return found;
}

function endOf(sticky: RegExp, text: string, at: number): number | undefined {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : undefined;
}

function isCutInGlue(text: string, at: number, isSpaced: boolean): boolean {
  if (text.length - at > LONGEST_CUT_GLUE) return false;
  const rest = text.slice(at);
  return CUT_GLUE.test(rest) || (isSpaced && CUT_SPACE.test(rest));
}
