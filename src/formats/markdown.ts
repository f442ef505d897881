/**
 * A line scanner for the Markdown of shift files. Each line keeps its offsets into the source, so an edit is a splice
 * and every other byte stays (rule F5). Stricter than CommonMark in one point: a heading starts at column 0, because
 * an indented `## Name` inside a step must not end the Steps.
 */
export interface Markdown {
  readonly text: string;
  readonly lines: readonly Line[];
  readonly sections: readonly Section[];
  /** The line ending of this file. */
  readonly eol: string;
  /** A block or comment that is never closed and swallows the rest of the file. */
  readonly unclosed?: { readonly what: 'block' | 'comment'; readonly line: number };
}

export interface Line {
  /** 1-based, as editors count. */
  readonly number: number;
  readonly start: number;
  /** Without the line ending. */
  readonly end: number;
  /** With the line ending: the start of the next line. */
  readonly next: number;
  readonly text: string;
  /** `text` with everything inactive (comments, lines after `#`, code) replaced by spaces; columns are the same. */
  readonly active: string;
  /** The fenced block that this line, or fence, is part of. */
  readonly block?: Block;
  /** A comment or a block continues after this line, so nothing can be inserted here. */
  readonly open: boolean;
}

/** A fenced code block. Line `n` of `code` (from 0) is line `line + n` of the file. */
export interface Block {
  /** First word of the info string, in lower case. */
  readonly info: string;
  /**
   * Without the indentation of its fence. Lines end with `\n` whatever the file uses, because a shell
   * reads it.
   */
  readonly code: string;
  readonly line: number;
  /** The whole block with both fences, without the last line ending. */
  readonly start: number;
  readonly end: number;
}

/** `## Name` and what follows, up to the next heading of the same or a higher level. */
export interface Section {
  readonly name: string;
  readonly heading: Line;
  readonly lines: readonly Line[];
  /** The body: from the line after the heading to the next heading or the end of the file. */
  readonly start: number;
  readonly end: number;
}

const BOM = '\uFEFF';
/** Also directly after list markers, as in `- ~~~sh`. The info string of a backtick fence has no backtick. */
const FENCE = /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*[ \t]*)(`{3,}(?=[^`]*$)|~{3,})(.*)$/s;
/** `# - key: value` and `# 2. name` are commented-out entries, although CommonMark sees headings. */
const HASHED_ENTRY = /^(?:#{1,6}[ \t]+[-*+]|#[ \t]+\d{1,9}[.)])(?:[ \t]|$)/;
const HASHED_SETTING = /^#[ \t]+[A-Za-z][\w-]*[ \t]*:/;
const HEADING = /^#{1,6}(?=[ \t]|$)/;

export function scan(text: string): Markdown {
  const scanner = new Scanner(text);
  const lines = [...splitLines(text)].map((line) => scanner.read(line));
  const unclosed = scanner.unclosed;
  return { text, lines, sections: sectionsOf(lines, text), eol: eolOf(text), ...(unclosed && { unclosed }) };
}

type RawLine = Pick<Line, 'number' | 'start' | 'end' | 'next' | 'text'>;

function* splitLines(text: string): Generator<RawLine> {
  let start = text.startsWith(BOM) ? BOM.length : 0;
  for (let number = 1; start < text.length; number++) {
    let end = start;
    while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end++;
    const next = Math.min(text.length, end + (text.startsWith('\r\n', end) ? 2 : 1));
    yield { number, start, end, next, text: text.slice(start, end) };
    start = next;
  }
}

interface OpenFence {
  readonly run: string;
  readonly indent: number;
  readonly line: number;
  /** Shared by the lines of the block, and completed while they are read. */
  readonly block: { -readonly [K in keyof Block]: Block[K] };
}

/** Scans the lines once and tracks what is open at each of them. */
class Scanner {
  readonly #text: string;
  readonly #lastCloser: number;
  #fence: OpenFence | undefined;
  #commentSince: number | undefined;
  #hashed = false;
  #inConfiguration = false;

  constructor(text: string) {
    this.#text = text;
    this.#lastCloser = text.lastIndexOf('-->');
  }

  get unclosed(): Markdown['unclosed'] {
    if (this.#fence !== undefined) return { what: 'block', line: this.#fence.line };
    return this.#commentSince === undefined ? undefined : { what: 'comment', line: this.#commentSince };
  }

  read(line: RawLine): Line {
    if (this.#fence !== undefined) return this.#readCode(line, this.#fence);
    const fence = this.#commentSince === undefined ? FENCE.exec(line.text) : null;
    if (fence !== null) return this.#openFence(line, fence[1]!, fence[2]!, fence[3]!);
    const uncommented = this.#blankComments(line);
    this.#hashed = this.#isHashed(uncommented);
    const active = this.#hashed ? blank(uncommented) : uncommented;
    const heading = headingOf(active);
    if (heading !== undefined && heading.level <= 2) this.#inConfiguration = /configuration$/i.test(heading.name);
    return { ...line, active, open: this.#commentSince !== undefined };
  }

  #openFence(line: RawLine, before: string, run: string, info: string): Line {
    const own = before.trim() === '' ? 0 : before.length;
    const block = {
      info: info.trim().split(/\s/)[0]!.toLowerCase(),
      code: '',
      line: line.number + 1,
      start: line.start + own,
      end: line.end,
    };
    this.#fence = { run, indent: columns(before), line: line.number, block };
    this.#hashed = false;
    return { ...line, active: before.padEnd(line.text.length), block, open: true };
  }

  #readCode(line: RawLine, fence: OpenFence): Line {
    const { block } = fence;
    block.end = line.end;
    const run = line.text.trim();
    const closes =
      run.length >= fence.run.length &&
      run === fence.run[0]!.repeat(run.length) &&
      indentOf(line.text) < fence.indent + 4;
    if (closes) this.#fence = undefined;
    else block.code += `${stripIndent(line.text, fence.indent)}\n`;
    return { ...line, active: blank(line.text), block, open: !closes };
  }

  #blankComments(line: RawLine): string {
    let active = '';
    let at = 0;
    while (at < line.text.length) {
      if (this.#commentSince !== undefined) {
        const close = line.text.indexOf('-->', at);
        const end = close === -1 ? line.text.length : close + 3;
        if (close !== -1) this.#commentSince = undefined;
        active = active.padEnd(end);
        at = end;
        continue;
      }
      const open = nextComment(line.text, at);
      // Without a later `-->`, `<!--` within a sentence is text; at the start of a line it is an unclosed comment.
      const real = open !== -1 && (this.#lastCloser >= line.start + open + 2 || line.text.slice(0, open).trim() === '');
      if (!real) return active + line.text.slice(at);
      active += `${line.text.slice(at, open)}  `;
      at = open + 2;
      this.#commentSince = line.number;
    }
    return active;
  }

  /** A line after `#` is not active (rule F2), and neither are the `#` lines directly below it. */
  #isHashed(active: string): boolean {
    if (HASHED_ENTRY.test(active)) return true;
    if (this.#inConfiguration && HASHED_SETTING.test(active)) return true;
    return this.#hashed && /^#(?!#)/.test(active);
  }
}

/** The next `<!--` outside of code spans; -1 if there is none. */
function nextComment(text: string, from: number): number {
  for (const match of text.slice(from).matchAll(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|<!--/gs)) {
    if (match[0] === '<!--') return from + match.index;
  }
  return -1;
}

function sectionsOf(lines: readonly Line[], text: string): Section[] {
  const sections: Section[] = [];
  const headings = lines.flatMap((line, index) => {
    const heading = headingOf(line.active);
    return heading !== undefined && heading.level <= 2 ? [{ ...heading, line, index }] : [];
  });
  for (const [i, { level, name, line, index }] of headings.entries()) {
    if (level !== 2) continue;
    const following = headings[i + 1];
    const body = lines.slice(index + 1, following?.index);
    sections.push({ name, heading: line, lines: body, start: line.next, end: following?.line.start ?? text.length });
  }
  return sections;
}

/** For the active text of a line. */
export function headingOf(active: string): { level: number; name: string } | undefined {
  const level = HEADING.exec(active)?.[0].length;
  if (level === undefined) return undefined;
  return {
    level,
    name: active
      .slice(level)
      .trim()
      .replace(/(?:^|[ \t]+)#+$/, ''),
  };
}

/** Section names are case-insensitive. */
export function findSections(document: Markdown, name: string): Section[] {
  return document.sections.filter((section) => section.name.toLowerCase() === name.toLowerCase());
}

/** The width of the leading white space; a tab extends to the next multiple of 4. */
export function indentOf(text: string): number {
  return columns(/^[ \t]*/.exec(text)![0]);
}

function columns(text: string): number {
  let width = 0;
  for (const char of text) width += char === '\t' ? 4 - (width % 4) : 1;
  return width;
}

/** Removes up to `width` columns of white space; a tab that extends beyond them stays. */
export function stripIndent(text: string, width: number): string {
  let at = 0;
  while ((text[at] === ' ' || text[at] === '\t') && columns(text.slice(0, at + 1)) <= width) at++;
  return text.slice(at);
}

function blank(text: string): string {
  return ' '.repeat(text.length);
}

function eolOf(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
}

export function splice(text: string, start: number, end: number, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** Inserts lines below `line`; a file without a final line ending stays without one. */
export function insertBelow(document: Markdown, line: Line, added: readonly string[]): string {
  const { text, eol } = document;
  const block = line.next === line.end ? added.map((one) => eol + one) : added.map((one) => one + eol);
  return splice(text, line.next, line.next, block.join(''));
}
