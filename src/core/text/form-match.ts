import { escapeAt } from './escapes.ts';
import type { Form } from './secret-forms.ts';
import { BREAK_BEGINNINGS, type Unit } from './spellings.ts';

/** The position of the longest known beginning of a form in the scanned text. */
export type Progress = Map<FormMatcher, { readonly from: number; readonly to: number }>;

interface Match {
  /** The end of the longest complete match. */
  readonly end?: number;
  /** The text ends in the middle of a match. */
  readonly mayGrow: boolean;
}

/** Comparing shorter beginnings again is faster than remembering them. */
const WORTH_REMEMBERING = 16;
/** A value of only backslashes has an unbounded number of readings. */
const MOST_READINGS = 24;

/** Finds one form. */
export class FormMatcher {
  readonly #form: Form;
  /** The beginning of the form up to the first unit that is undecided or of another length. */
  readonly #plain: string;
  readonly #width: number;
  readonly #overlaps: Uint32Array;

  constructor(form: Form) {
    this.#form = form;
    this.#width = form.units[0]!.plain.length;
    const other = form.units.findIndex((unit) => !unit.isDecided || unit.plain.length !== this.#width);
    const plain = other < 0 ? form.units : form.units.slice(0, other);
    this.#plain = plain.map((unit) => unit.plain).join('');
    this.#overlaps = overlapsOf(this.#plain);
  }

  /** Follows all readings of a text at once: a backslash may be part of the value or the beginning of an escape. */
  match(text: string, at: number, progress: Progress): Match {
    const { units, isUnbroken } = this.#form;
    let number = Math.floor(this.#plainLength(text, at, progress) / this.#width);
    let places = [at + number * this.#width];
    let mayGrow = false;
    for (; number < units.length; number++) {
      const unit = units[number]!;
      if (unit.isDecided && places.length === 1 && text.startsWith(unit.plain, places[0]!)) {
        places[0]! += unit.plain.length;
        continue;
      }
      if (places.length === 1 && !this.#mayFollow(unit, text[places[0]!])) return { mayGrow };
      const reached = new Set<number>();
      for (const place of places) {
        const behind = number === 0 || isUnbroken ? [] : behindGlue(text, place, this.#form);
        for (const from of [place, ...behind]) mayGrow = this.#readUnit(unit, text, from, reached) || mayGrow;
        // Text that is folded between words has a line break instead of the space.
        if (unit.plain === ' ') for (const from of behind) reached.add(from);
        mayGrow ||= number > 0 && !isUnbroken && isCutInGlue(text, place, this.#form);
      }
      if (reached.size === 0) return { mayGrow };
      places = [...reached].slice(0, MOST_READINGS);
    }
    return { end: Math.max(...places), mayGrow };
  }

  /**
   * How much of the plain beginning matches here. Takes constant time even if the letters of the value repeat: one
   * comparison tells how far the next ones get (the Z algorithm).
   */
  #plainLength(text: string, at: number, progress: Progress): number {
    const seen = progress.size > 0 ? progress.get(this) : undefined;
    let length = 0;
    if (seen && at < seen.to) {
      const known = this.#overlaps[at - seen.from]!;
      if (known < seen.to - at) return known;
      length = seen.to - at;
    }
    const plain = this.#plain;
    while (length < plain.length && text.charCodeAt(at + length) === plain.charCodeAt(length)) length++;
    if (length >= WORTH_REMEMBERING) progress.set(this, { from: at, to: at + length });
    return length;
  }

  /** Most attempts end here: neither the unit nor an escape nor a break begins with this character. */
  #mayFollow(unit: Unit, next: string | undefined): boolean {
    if (next === undefined || unit.byFirst.has(next) || BREAK_BEGINNINGS.includes(next)) return true;
    return this.#form.isSpaced === true && ' :-,0'.includes(next);
  }

  /** Adds the positions after the spellings found here; returns whether the text ends in the middle of one. */
  #readUnit(unit: Unit, text: string, from: number, reached: Set<number>): boolean {
    if (from >= text.length) return true;
    let isCut = false;
    for (const spelling of unit.byFirst.get(text[from]!) ?? []) {
      if (text.startsWith(spelling, from)) reached.add(from + spelling.length);
      else if (text.length - from < spelling.length && spelling.startsWith(text.slice(from))) isCut = true;
    }
    const escaped = this.#form.isText ? escapeAt(text, from) : undefined;
    if (escaped === 'cut') return true;
    if (escaped?.character === unit.plain) reached.add(escaped.end);
    return isCut;
  }
}

/** For every position of a text, how much of the text's beginning matches there. */
function overlapsOf(text: string): Uint32Array {
  const overlaps = new Uint32Array(text.length);
  let from = 0;
  let to = 0;
  for (let at = 1; at < text.length; at++) {
    let length = at < to ? Math.min(overlaps[at - from]!, to - at) : 0;
    while (at + length < text.length && text[length] === text[at + length]) length++;
    overlaps[at] = length;
    if (at + length > to) [from, to] = [at, at + length];
  }
  return overlaps;
}

/**
 * Encoders break lines, also inside JSON, a URL or a page; people indent and quote them. Mail, YAML and shells put a
 * character before the break.
 */
const BREAK = /(?:[=\\]?\r?\n|(?:\\{1,8}r)?\\{1,8}n|%0[Aa]|&#10;)/y;
const INDENT = /[ \t>|]{1,32}/y;
const CUT_GLUE =
  /^(?:[=\\]?\r|=|\\{1,8}|\\{1,8}r\\{0,8}|%0?|&#?1?0?|(?:[=\\]?\r?\n|(?:\\{1,8}r)?\\{1,8}n|%0[Aa]|&#10;)[ \t>|]{0,32})$/;
const LONGEST_CUT_GLUE = 64;
const SPACE = /(?:[ :-]|,? ?0x|\\{1,8}x)/y;
const CUT_SPACE = /^(?:,? ?0?|\\{1,8})$/;

function behindGlue(text: string, at: number, { isSpaced }: Form): number[] {
  const found: number[] = [];
  const next = text[at];
  if (next === undefined) return found;
  if (BREAK_BEGINNINGS.includes(next)) {
    const behind = endOf(BREAK, text, at);
    // Some of what looks like an indent may belong to the value.
    if (behind !== undefined) {
      for (let each = endOf(INDENT, text, behind) ?? behind; each >= behind; each--) found.push(each);
    }
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

function isCutInGlue(text: string, at: number, { isSpaced }: Form): boolean {
  if (text.length - at > LONGEST_CUT_GLUE) return false;
  const rest = text.slice(at);
  return CUT_GLUE.test(rest) || (isSpaced === true && CUT_SPACE.test(rest));
}
