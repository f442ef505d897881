/** A value, and the reference that replaces it where it would change the structure of the text (rule S3). */
export interface Insertion {
  readonly value: string;
  readonly reference: string;
}

/** Longer values are only in the item's data. */
const LONGEST = 4096;
/** Line breaks of all kinds, control characters, unpaired surrogates. A tab is only white space. */
const CONTROL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
/**
 * Invisible characters, including those that change the direction of text. Joiners, soft hyphens and direction marks
 * are part of words.
 */
const INVISIBLE = /(?![\u00ad\u200c-\u200f])\p{Cf}/u;
/** The tags of a prompt, and those that models take for turns of a conversation. */
const TAGS =
  /<\s*\/?\s*(?:task|criterion|steps|recommendations|item|history|instructions?|validation|system|user|assistant|human)\b/i;

/**
 * Inserts a value if its line keeps its meaning: a value never begins or ends a step, a criterion, a heading, a block
 * or a comment. Otherwise uses the reference. Returns a text for each part.
 */
export function fitValues(parts: readonly (string | Insertion)[]): string[] {
  const fitted = parts.map((part) =>
    typeof part === 'string' ? part : isPlain(part.value) ? part.value : part.reference,
  );
  for (const line of linesOf(parts)) {
    const write = (text: (index: number) => string) =>
      line.map((piece) => (typeof piece === 'string' ? piece : text(piece))).join('');
    const reference = (index: number) => (parts[index] as Insertion).reference;
    if (shapeOf(write((index) => fitted[index]!)) === shapeOf(write(reference))) continue;
    for (const piece of line) if (typeof piece === 'number') fitted[piece] = reference(piece);
  }
  return fitted;
}

function isPlain(value: string): boolean {
  if (value.length > LONGEST || TAGS.test(value)) return false;
  return !CONTROL.test(value.replaceAll('\t', ' ')) && !INVISIBLE.test(value);
}

/** The lines that contain insertions: their texts, and the insertions by index. */
function linesOf(parts: readonly (string | Insertion)[]): (string | number)[][] {
  const lines: (string | number)[][] = [[]];
  for (const [index, part] of parts.entries()) {
    if (typeof part !== 'string') {
      lines.at(-1)!.push(index);
      continue;
    }
    const first = part.search(/[\n\r]/);
    lines.at(-1)!.push(first < 0 ? part : part.slice(0, first));
    // Text between two line breaks contains no insertion.
    if (first >= 0) lines.push([part.slice(Math.max(part.lastIndexOf('\n'), part.lastIndexOf('\r')) + 1)]);
  }
  return lines.filter((line) => line.some((piece) => typeof piece === 'number'));
}

const MARKERS = /^(?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>|#{1,6})(?=[ \t>]|$))*[ \t]*/;

/** The meaning of a line in Markdown: its markers, and what kind of text follows. */
function shapeOf(line: string): string {
  const markers = MARKERS.exec(line)![0];
  const text = line.slice(markers.length);
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const comments = count(/<!--|-->/g);
  return JSON.stringify([
    markers,
    text.trim() === '',
    /^(?:`{3,}|~{3,})/.test(text) ? text : '',
    /^[-=_*+|:\s]+$/.test(text) ? text : '',
    /^(?:#|<[!?/A-Za-z])/.exec(text)?.[0] ?? '',
    /^\[[^\]]*\]:/.test(text),
    text.startsWith('|') ? count(/\|/g) : 0,
    comments,
    // A code span hides the beginning of a comment.
    comments > 0 ? count(/`/g) : 0,
  ]);
}

const HIDDEN = /(?![\n\u00ad\u200c-\u200f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * JSON of others' data: no line breaks but its own, nothing invisible, and nothing that looks like a tag of a prompt.
 */
export function dataJson(data: unknown, indent?: number): string {
  return visible(JSON.stringify(data, null, indent));
}

/** Others' text, each line marked as a quotation. */
export function quoteLines(text: string): string {
  const lines = text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
  return lines.map((line) => `> ${visible(line.replaceAll('\t', ' '))}`).join('\n');
}

function visible(text: string): string {
  return text
    .replace(HIDDEN, (found) => [...Array(found.length).keys()].map((at) => escaped(found.charCodeAt(at))).join(''))
    .replace(new RegExp(TAGS, 'gi'), (tag) => `\\u003c${tag.slice(1)}`);
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
