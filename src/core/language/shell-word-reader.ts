import type { Refusal } from './shell-refusals.ts';
import * as refusals from './shell-refusals.ts';
import { Doubt, HOLE, type Quoting, type Standing, type Word } from './shell-word.ts';

const METACHARACTERS = ' \t\n;&|()<>';
/** `$` and one of these is a complete parameter. */
const SPECIAL_PARAMETERS = '@*#?-$!0123456789';
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
/** Commands whose output contains nothing of their arguments. */
const FACTS = /^\s*(mktemp|date|pwd|nproc|hostname|uname|whoami|id)\b[^$`;&|()<>]*$/;

/** Reads words with their quotes and expansions, and records how each hole is quoted. */
export abstract class WordReader {
  readonly standings = new Map<number, Standing>();
  /** Variables read inside `$(( ))`. */
  readonly counted: string[] = [];
  /** The text between backticks, which a separate shell reads. */
  readonly backticked: { readonly at: number; readonly text: string }[] = [];
  /** The positions of comments. */
  readonly comments: [start: number, end: number][] = [];
  readonly source: string;
  protected at = 0;
  protected end: number;
  private readonly holes: ReadonlySet<number>;
  /** Set inside a construct in which no hole can be correct, however deeply nested. */
  private enclosing: Refusal | undefined;
  private delimiters = '';
  private expands: string[] = [];

  constructor(source: string, holes: readonly number[]) {
    this.source = source;
    this.end = source.length;
    this.holes = new Set(holes);
  }

  /** Reads the commands of a `$( )` and its closing parenthesis. */
  protected abstract substitution(): void;

  protected word(): Word {
    const { at: start, expands: outer } = this;
    let text = '';
    let plain = true;
    this.expands = [];
    while (this.at < this.end && !METACHARACTERS.includes(this.source[this.at]!)) {
      const char = this.source[this.at]!;
      plain &&= !this.isHole(this.at) && !'\\\'"`$'.includes(char);
      if (this.isHole(this.at)) text += this.hole('bare');
      else if (char === '\\') text += this.backslash();
      else if (char === "'") text += this.singleQuotes();
      else if (char === '"') text += this.doubleQuotes();
      else if (char === '`') text += this.backticks();
      else if (char === '$') text += this.dollar(false);
      else text += this.take(char);
    }
    if (this.at === start) this.doubt('a missing word');
    return this.finishWord(start, outer, text, plain);
  }

  private finishWord(start: number, outer: string[], text: string, plain: boolean): Word {
    const raw = this.source.slice(start, this.at);
    const hasHole = this.hasHoles(start, this.at);
    const { at: end, expands } = this;
    this.expands = outer;
    return { start, end, raw, text, plain, startsWithHole: hasHole && text.startsWith(HOLE), hasHole, expands };
  }

  /** The body of an unquoted here-document, up to `end`: quotes have no meaning, expansions do. */
  protected hereText(end: number, delimiter: string): Word {
    const outer = { end: this.end, delimiters: this.delimiters };
    const { at: start, expands } = this;
    this.expands = [];
    this.end = end;
    this.delimiters += delimiter;
    while (this.at < end) {
      const char = this.source[this.at]!;
      if (this.isHole(this.at)) this.hole('here-document');
      else if (char === '\\') this.backslash();
      else if (char === '`') this.backticks();
      else if (char === '$') this.dollar(true);
      else this.at++;
    }
    this.end = outer.end;
    this.delimiters = outer.delimiters;
    return this.finishWord(start, expands, this.source.slice(start, end), false);
  }

  /** The body of a quoted here-document. */
  protected literalText(end: number): Word {
    const { at: start, expands } = this;
    this.expands = [];
    this.at = end;
    return this.finishWord(start, expands, this.source.slice(start, end), false);
  }

  protected comment(): void {
    const start = this.at;
    while (this.at < this.end && this.source[this.at] !== '\n') {
      if (this.isHole(this.at)) this.hole('comment');
      else this.at++;
    }
    this.comments.push([start, this.at]);
  }

  /** Skips blanks and escaped line breaks, which the shell removes first. */
  protected skipBlanks(): void {
    for (;;) {
      if (this.looksAt(' ') || this.looksAt('\t')) this.at++;
      else if (this.looksAt('\\\n')) this.at += 2;
      else return;
    }
  }

  protected isHole(offset: number): boolean {
    return this.holes.has(offset);
  }

  protected hasHoles(start: number, end: number): boolean {
    for (const hole of this.holes) if (hole >= start && hole < end) return true;
    return false;
  }

  /** The first reason wins. */
  refuse(start: number, end: number, why: Refusal): void {
    for (const hole of this.holes) {
      if (hole < start || hole >= end || this.standings.get(hole)?.quoting === 'refused') continue;
      if (this.standings.get(hole)?.quoting !== 'comment') this.standings.set(hole, { quoting: 'refused', why });
    }
  }

  /** The first hole of these words would be an option of the program if its value begins like one. */
  markOption(start: number, end: number, optionOf: string): void {
    for (const hole of this.holes) {
      const standing = this.standings.get(hole);
      if (hole < start || hole >= end || standing === undefined || standing.quoting === 'refused') continue;
      this.standings.set(hole, { ...standing, optionOf });
    }
  }

  protected looksAt(text: string): boolean {
    return this.at + text.length <= this.end && this.source.startsWith(text, this.at) && !this.isHole(this.at);
  }

  protected take<T extends string>(text: T): T {
    this.at += text.length;
    return text;
  }

  protected doubt(what: string, at = this.at): never {
    throw new Doubt(what, at);
  }

  private hole(quoting: Quoting): string {
    const { enclosing: why, delimiters } = this;
    this.standings.set(this.at, why === undefined ? { quoting, delimiters } : { quoting: 'refused', why });
    this.expands.push(HOLE);
    return this.take(HOLE);
  }

  private backslash(): string {
    const escaped = this.at + 1;
    if (this.isHole(escaped)) this.refuse(escaped, escaped + 1, refusals.ESCAPED);
    this.at = Math.min(this.end, this.at + 2);
    const char = this.source.slice(escaped, this.at);
    return char === '\n' ? '' : char;
  }

  private singleQuotes(): string {
    const start = this.take("'") && this.at;
    while (this.at < this.end) {
      if (this.isHole(this.at)) this.hole('single');
      else if (this.source[this.at] === "'") return this.source.slice(start, this.at++);
      else this.at++;
    }
    return this.doubt("an unclosed '", start);
  }

  private doubleQuotes(): string {
    const start = this.at++;
    let text = '';
    while (this.at < this.end) {
      const char = this.source[this.at]!;
      if (this.isHole(this.at)) text += this.hole('double');
      else if (char === '\\') text += this.backslash();
      else if (char === '`') text += this.backticks();
      else if (char === '$') text += this.dollar(true);
      else if (this.take(char) === '"') return text;
      else text += char;
    }
    return this.doubt('an unclosed "', start);
  }

  /** Shells look for the closing backtick before anything else. */
  private backticks(): string {
    const start = this.at++;
    while (this.at < this.end && this.source[this.at] !== '`') this.at += this.source[this.at] === '\\' ? 2 : 1;
    if (this.at >= this.end) this.doubt('an unclosed `', start);
    this.at++;
    this.refuse(start, this.at, refusals.BACKTICKS);
    const text = this.source.slice(start + 1, this.at - 1);
    this.noteOutput(text);
    this.backticked.push({ at: start, text: text.replace(/\\([$`\\])/g, '$1') });
    return this.source.slice(start, this.at);
  }

  /** An expansion that begins with `$`. `quoted`: in double quotes or a here-document. */
  private dollar(quoted: boolean): string {
    const start = this.at;
    const next = this.isHole(start + 1) ? '' : this.source.slice(start + 1, Math.min(start + 2, this.end));
    NAME.lastIndex = start + 1;
    if (this.looksAt('$((')) this.enclosed(refusals.ARITHMETIC, () => this.arithmetic());
    else if (this.looksAt('$(')) {
      this.at += 2;
      this.substitution();
      this.noteOutput(this.source.slice(start + 2, this.at - 1));
    } else if (next === '{') this.enclosed(refusals.PARAMETER_EXPANSION, () => this.parameter(quoted));
    else if (next === "'" && !quoted) this.enclosed(refusals.ANSI_QUOTES, () => this.ansiQuotes());
    else if (next === '[') this.doubt('$[');
    else if (next === '\\' && this.source[start + 2] === '\n') this.doubt('a line that ends with $\\');
    else if (next !== '' && SPECIAL_PARAMETERS.includes(next)) {
      this.at += 2;
      this.expands.push(next);
    } else if (next !== '' && NAME.test(this.source)) {
      this.at = NAME.lastIndex;
      this.expands.push(this.source.slice(start + 1, this.at));
    } else this.at++;
    return this.source.slice(start, this.at);
  }

  private noteOutput(commands: string): void {
    if (!FACTS.test(commands)) this.expands.push('(');
  }

  private enclosed(why: Refusal, read: () => void): void {
    const outer = this.enclosing;
    this.enclosing ??= why;
    read();
    this.enclosing = outer;
  }

  private parameter(quoted: boolean): void {
    const start = this.at;
    this.at += 2;
    const [, isIndirect, name = '@'] = /^([!]?)#?(\w+|[@*?$!-])?/.exec(this.source.slice(this.at, this.end))!;
    this.expands.push(isIndirect ? '@' : name);
    const [head = ''] = /^[^}]*/.exec(this.source.slice(this.at, this.end))!;
    const number = /^\w+(?:\[([^\]]*)|:([^-+=?].*))/s.exec(head);
    this.counted.push(...namesIn(`${number?.[1] ?? ''} ${number?.[2] ?? ''}`));
    // `${!name}` and `${name@P}` evaluate the content of the variable.
    if (isIndirect || /@[A-Za-z]$/.test(head)) this.counted.push(name);
    while (this.at < this.end) {
      const char = this.source[this.at]!;
      if (this.isHole(this.at)) this.hole('bare');
      else if (char === '\\') this.backslash();
      else if (char === '`') this.backticks();
      else if (char === '$') this.dollar(quoted);
      else if (quoted && (char === "'" || char === '"')) this.doubt(`a ${char} inside a quoted \${ }`);
      else if (char === "'") this.singleQuotes();
      else if (char === '"') this.doubleQuotes();
      else if (this.take(char) === '}') return;
    }
    this.doubt('an unclosed ${', start);
  }

  private arithmetic(): void {
    const start = this.at;
    let depth = 0;
    this.at += 3;
    while (this.at < this.end) {
      const char = this.source[this.at]!;
      if (this.isHole(this.at)) this.hole('bare');
      else if (char === '\\') this.backslash();
      else if (char === '`') this.backticks();
      else if (char === '$') this.dollar(true);
      else if (char === '"') this.doubleQuotes();
      else if (char === "'" || char === '#') this.doubt(`a ${char} in $(( ))`);
      else if (char === ')' && depth === 0) {
        if (!this.looksAt('))')) this.doubt('$(( that is not closed by ))', start);
        this.counted.push(...namesIn(this.source.slice(start, this.at)));
        this.at += 2;
        return;
      } else {
        depth += char === '(' ? 1 : char === ')' ? -1 : 0;
        this.at++;
      }
    }
    this.doubt('an unclosed $((', start);
  }

  private ansiQuotes(): void {
    const start = this.take('$') && this.at;
    const text = this.singleQuotes();
    if (/(^|[^\\])(\\\\)*\\$/.test(text)) this.doubt("\\' in $'...'", start);
  }
}

/** The variables that an arithmetic expression reads. */
function namesIn(expression: string): string[] {
  return expression.match(/[A-Za-z_]\w*|(?<=\$\{?)(?:\d+|[@*])/g) ?? [];
}
