import { ESCAPE_PAIRS, escapeAt } from './escapes.ts';
import { FormMatcher, type Progress } from './form-match.ts';
import { type Form, formsOf } from './secret-forms.ts';
import { BREAK_BEGINNINGS } from './spellings.ts';
import { TokenParts } from './token-parts.ts';

interface NamedForm {
  readonly name: string;
  readonly matcher: FormMatcher;
}

export interface Found {
  readonly name: string;
  readonly end: number;
}

/**
 * Forms by their possible first two characters. One table lookup skips nearly every position of a text, because an
 * agent may print a lot.
 */
export class FormIndex {
  readonly #byPair = new Map<number, NamedForm[]>();
  /** Forms whose first character may be escaped without need. */
  readonly #byEscaped = new Map<string, NamedForm[]>();
  readonly #plausible = new Uint8Array(1 << 16);
  readonly #firsts = new Set<string>();
  readonly #parts = new TokenParts();

  constructor(secrets: Readonly<Record<string, string>>) {
    for (const [name, value] of Object.entries(secrets)) {
      for (const form of formsOf(value)) this.#add(form, { name, matcher: new FormMatcher(form) });
      this.#parts.add(value, name);
    }
    for (const pair of this.#parts.pairs()) this.#expect(pair);
    if (this.#byEscaped.size > 0) for (const pair of ESCAPE_PAIRS) this.#expect(pair);
  }

  #expect(pair: string): number {
    const key = pairAt(pair, 0);
    this.#plausible[key] = 1;
    this.#firsts.add(pair[0]!);
    return key;
  }

  #add(form: Form, named: NamedForm): void {
    for (const pair of new Set(beginnings(form))) append(this.#byPair, this.#expect(pair), named);
    const first = form.units[0]!.plain;
    if (form.isText && /[A-Za-z0-9]/.test(first)) append(this.#byEscaped, first, named);
  }

  /** The next position from `at` on where a form may begin, or the end. */
  next(text: string, at: number, ended: boolean): number {
    while (at < text.length - 1 && this.#plausible[pairAt(text, at)] === 0) at += 1;
    if (at !== text.length - 1) return at;
    return !ended && this.#firsts.has(text[at]!) ? at : text.length;
  }

  /** The longest form here, or a part of one; `undecided` if more text could make one, or a longer one. */
  matchAt({ text, ended, progress }: Scan, at: number): Found | 'undecided' | undefined {
    if (at === text.length - 1) return ended ? undefined : 'undecided';
    const escaped = this.#byEscaped.size > 0 ? escapeAt(text, at) : undefined;
    if (escaped === 'cut' && !ended) return 'undecided';
    const unescaped = typeof escaped === 'object' ? this.#byEscaped.get(escaped.character) : undefined;
    let longest: Found | undefined;
    for (const forms of [this.#byPair.get(pairAt(text, at)), unescaped]) {
      for (const { matcher, name } of forms ?? []) {
        const found = matcher.match(text, at, progress);
        if (found.mayGrow && !ended) return 'undecided';
        if (found.end !== undefined && found.end > (longest?.end ?? 0)) longest = { name, end: found.end };
      }
    }
    return longest ?? this.#parts.matchAt(text, at, ended);
  }
}

/** One pass through a text, from left to right. */
export interface Scan {
  readonly text: string;
  /** No more text follows. */
  readonly ended: boolean;
  readonly progress: Progress;
}

function append<K>(lists: Map<K, NamedForm[]>, key: K, named: NamedForm): void {
  const known = lists.get(key);
  if (known) known.push(named);
  else lists.set(key, [named]);
}

/** One byte of each of two characters: a collision only costs a comparison. */
function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) & 255) << 8) | (text.charCodeAt(at + 1) & 255);
}

/** The first two characters of all spellings of a form. */
function* beginnings({ units, isText, isSpaced, isUnbroken }: Form): Iterable<string> {
  const [first, second] = units;
  const glue = `${isUnbroken ? '' : BREAK_BEGINNINGS}${isSpaced ? ' :-,' : ''}${isText ? '\\%&=' : ''}`;
  for (const spelling of [...first!.byFirst.values()].flat()) {
    if (spelling.length > 1) yield spelling.slice(0, 2);
    else for (const next of [...(second?.byFirst.keys() ?? []), ...glue]) yield spelling + next;
  }
}
