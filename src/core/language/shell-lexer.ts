import * as refusals from './shell-refusals.ts';
import { Doubt, type Word } from './shell-word.ts';
import { WordReader } from './shell-word-reader.ts';

/** A simple command. One without words is the end of a group or loop with its own redirections. */
export interface Command {
  readonly words: readonly Word[];
  readonly redirections: readonly Redirection[];
}

interface Redirection {
  /** With its file descriptor, if there is one: `2>`. */
  readonly operator: string;
  /** For a here-document: its text. */
  readonly target: Word;
}

interface OpenCommand {
  readonly words: Word[];
  readonly redirections: Redirection[];
  /** The next word can't be a reserved word any more. */
  begun: boolean;
}

interface HereDocument {
  readonly operator: string;
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly command: OpenCommand;
}

type Ending = 'end' | ')' | ';;' | 'esac';

/** Words that may precede a command. */
const OPENERS = new Set(['if', 'then', 'else', 'elif', 'while', 'until', 'do', '{', '!']);
const CLOSERS = new Set(['fi', 'done', '}']);
const DIFFERING_KEYWORDS = new Set(['function', 'coproc']);
/** Operators whose operands are read as an arithmetic expression, or as a name that may have a subscript. */
const COUNTING = /^-(eq|ne|lt|le|gt|ge|v|R)$/;
const REDIRECTIONS = ['<<<', '<<-', '<<', '<&', '<>', '<', '>>', '>&', '>|', '>', '&>>', '&>'];

/** Reads a block once. The results are in `commands` and `standings`. */
export class Lexer extends WordReader {
  readonly commands: Command[] = [];
  readonly functions = new Set<string>();
  /** The patterns of `case`. */
  readonly patterns: string[] = [];
  private pending: HereDocument[] = [];
  /** A here-document outside this `$( )` waits for the end of its line; shells differ in where that is. */
  private outerPending = false;
  private inDoubleBrackets = false;

  read(): Doubt | undefined {
    try {
      this.list('end');
      return this.pending.length > 0 ? new Doubt('a here-document without a body', this.at) : undefined;
    } catch (error) {
      if (error instanceof Doubt) return error;
      throw error;
    }
  }

  protected override substitution(): void {
    const { pending, outerPending, inDoubleBrackets } = this;
    this.outerPending ||= pending.length > 0;
    this.pending = [];
    this.inDoubleBrackets = false;
    this.list(')');
    if (this.pending.length > 0) this.doubt('a here-document without a body');
    Object.assign(this, { pending, outerPending, inDoubleBrackets });
  }

  /** Commands, up to and including what closes them. */
  private list(close: 'end' | ')' | ';;'): Ending {
    const listStart = this.at;
    let command = newCommand();
    const finish = (length: number) => {
      this.at += length;
      if (command.begun) this.commands.push(command);
      command = newCommand();
    };
    const leave = <E extends Ending>(ending: E, length: number): E => {
      finish(length);
      return ending;
    };

    for (;;) {
      this.skipBlanks();
      const separator = ['&&', '||', '|&', '|', ';', '&'].find((text) => this.looksAt(text));
      if (this.at >= this.end) {
        return close === 'end'
          ? leave('end', 0)
          : this.doubt(close === ')' ? 'an unclosed (' : 'a case without esac', listStart);
      }
      if (this.looksAt('\n')) {
        this.newline();
        finish(0);
      } else if (this.looksAt('#')) this.comment();
      else if (this.looksAt(';;') || this.looksAt(';&')) {
        return close === ';;' ? leave(';;', this.looksAt(';;&') ? 3 : 2) : this.doubt('an unexpected ;;');
      } else if (this.looksAt('<') || this.looksAt('>') || this.looksAt('&>')) this.redirection(command);
      else if (separator !== undefined) finish(separator.length);
      else if (this.looksAt('(')) {
        if (command.words.length > 0) {
          this.functionHead(command);
          command = newCommand();
        } else this.subshell(command);
      } else if (this.looksAt(')')) return close === ')' ? leave(')', 1) : this.doubt('an unexpected )');
      else {
        const word = this.word();
        const isReserved = word.plain && !command.begun;
        if (isReserved && close === ';;' && word.text === 'esac') return leave('esac', 0);
        if (isReserved && this.reserved(word, command)) continue;
        if (isLoopBody(word, command)) finish(0);
        else this.append(word, command);
      }
    }
  }

  private append(word: Word, command: OpenCommand): void {
    const isFileDescriptor = /^\d+$/.test(word.raw) && (this.looksAt('<') || this.looksAt('>'));
    if (isFileDescriptor) {
      this.redirection(command, word.raw);
      return;
    }
    if (word.plain && word.text === '[[' && command.words.length === 0) this.inDoubleBrackets = true;
    if (this.inDoubleBrackets) {
      this.refuse(word.start, word.end, refusals.DOUBLE_BRACKETS);
      const before = command.words.at(-1)!;
      for (const each of [word, before]) {
        if (COUNTING.test((each === word ? before : word)?.text ?? '')) this.counted.push(...each.expands, each.text);
      }
    }
    if (word.plain && word.text === ']]') this.inDoubleBrackets = false;
    command.words.push(word);
    command.begun = true;
  }

  /** True if the word is part of the grammar, not of a command. */
  private reserved(word: Word, command: OpenCommand): boolean {
    if (DIFFERING_KEYWORDS.has(word.text)) this.doubt(word.text);
    if (OPENERS.has(word.text)) return true;
    if (word.text === 'case') this.caseClause();
    command.begun ||= CLOSERS.has(word.text) || word.text === 'case';
    return command.begun;
  }

  private caseClause(): void {
    this.skipBlanks();
    this.word();
    this.skipLines();
    const keyword = this.word();
    if (!keyword.plain || keyword.text !== 'in') this.doubt('a case without in');
    for (;;) {
      this.skipLines();
      const opened = this.looksAt('(');
      if (opened) this.at++;
      this.skipBlanks();
      const pattern = this.word();
      if (!opened && pattern.plain && pattern.text === 'esac') return;
      this.patterns.push(pattern.text);
      for (this.skipBlanks(); this.looksAt('|'); this.skipBlanks()) {
        this.at++;
        this.skipBlanks();
        this.patterns.push(this.word().text);
      }
      if (!this.looksAt(')')) this.doubt('a pattern without )');
      this.at++;
      if (this.list(';;') === 'esac') return;
    }
  }

  private subshell(command: OpenCommand): void {
    if (command.begun || this.looksAt('((')) this.doubt('((');
    this.at++;
    this.list(')');
    command.begun = true;
  }

  /** `name()`: a command follows. */
  private functionHead(command: OpenCommand): void {
    const [name, ...others] = command.words;
    const parentheses = /\([ \t]*\)/y;
    parentheses.lastIndex = this.at;
    if (name === undefined || others.length > 0 || name.raw.includes('=') || !parentheses.test(this.source)) {
      this.doubt('an unexpected (');
    }
    this.refuse(name.start, name.end, refusals.NAME);
    this.functions.add(name.text);
    this.at = parentheses.lastIndex;
  }

  private redirection(command: OpenCommand, descriptor = ''): void {
    const symbol = this.take(REDIRECTIONS.find((text) => this.looksAt(text))!);
    if (this.looksAt('(')) this.doubt(`${symbol}(`);
    const operator = descriptor + symbol;
    command.begun = true;
    this.skipBlanks();
    if (symbol === '<<' || symbol === '<<-') {
      this.pending.push({ ...this.delimiter(), operator, command });
      return;
    }
    const target = this.word();
    command.redirections.push({ operator, target });
    if (this.inDoubleBrackets) this.refuse(target.start, target.end, refusals.DOUBLE_BRACKETS);
  }

  private delimiter(): { delimiter: string; quoted: boolean } {
    const { start, end, raw, text, plain } = this.word();
    this.refuse(start, end, refusals.DELIMITER);
    if (/[$`\n]/.test(raw)) this.doubt(`the delimiter ${raw}`);
    return { delimiter: text, quoted: !plain };
  }

  private skipLines(): void {
    for (;;) {
      this.skipBlanks();
      if (this.looksAt('\n')) this.newline();
      else if (this.looksAt('#')) this.comment();
      else return;
    }
  }

  /** The end of a line, and the here-documents that start after it. */
  private newline(): void {
    if (this.outerPending) this.doubt('a line end inside $( ) after <<');
    this.at++;
    const documents = this.pending;
    this.pending = [];
    for (const document of documents) this.hereDocument(document);
  }

  private hereDocument({ operator, delimiter, quoted, command }: HereDocument): void {
    const start = this.at;
    let lineStart = start;
    let lineEnd = start;
    for (; ; lineStart = lineEnd + 1) {
      if (lineStart >= this.end) this.doubt(`a here-document without its ${delimiter}`, start);
      lineEnd = this.source.indexOf('\n', lineStart);
      if (lineEnd < 0 || lineEnd > this.end) lineEnd = this.end;
      const line = this.source.slice(lineStart, lineEnd);
      const text = operator.endsWith('-') ? line.replace(/^\t+/, '') : line;
      if (text === delimiter && !this.hasHoles(lineStart, lineEnd)) break;
      // bash takes this for the end of the document and of the enclosing `$( )`.
      if (text.startsWith(`${delimiter})`)) this.doubt(`${delimiter}) in a here-document`, lineStart);
    }
    if (quoted) this.refuse(start, lineStart, refusals.QUOTED_HERE_DOCUMENT);
    else if (/\\\n$/.test(this.source.slice(start, lineStart))) this.doubt(`a backslash before ${delimiter}`);
    const target = quoted ? this.literalText(lineStart) : this.hereText(lineStart, delimiter);
    command.redirections.push({ operator, target });
    this.at = Math.min(this.end, lineEnd + 1);
  }
}

function newCommand(): OpenCommand {
  return { words: [], redirections: [], begun: false };
}

/** The `do` of `for name do`, which needs no separator. */
function isLoopBody(word: Word, { words }: OpenCommand): boolean {
  return word.plain && word.text === 'do' && words.length === 2 && words[0]!.plain && words[0]!.text === 'for';
}
