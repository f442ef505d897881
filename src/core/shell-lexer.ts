import { inspectCommand, type Word } from './shell-commands.ts';
import * as refusals from './shell-refusals.ts';
import { Doubt, HOLE, WordReader } from './shell-words.ts';

interface Pipeline {
  start: number;
  runsItsInput: boolean;
  readonly hereDocuments: [start: number, end: number][];
  readonly upstream: Upstream | undefined;
}

/** The pipeline that a subshell or `case` is a part of, and where that part begins. */
interface Upstream {
  readonly pipeline: Pipeline;
  readonly until: number;
}

interface HereDocument {
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly stripsTabs: boolean;
  readonly pipeline: Pipeline;
}

interface Command {
  start: number;
  readonly words: Word[];
  /** The words of `<<<`. */
  readonly hereStrings: Word[];
  /** The next word is no reserved word any more. */
  begun: boolean;
}

type Ending = 'end' | ')' | ';;' | 'esac';

/** What may stand before a command without being one. */
const OPENERS = new Set(['if', 'then', 'else', 'elif', 'while', 'until', 'do', '{', '!']);
const CLOSERS = new Set(['fi', 'done', '}']);
const DIFFERING_KEYWORDS = new Set(['function', 'coproc']);
const REDIRECTIONS = ['<<<', '<<-', '<<', '<&', '<>', '<', '>>', '>&', '>|', '>', '&>>', '&>'];

/** Walks over a block once, command by command; what it finds is in `standings`. */
export class Lexer extends WordReader {
  /** The pipelines that are being read, outermost first. */
  private readonly open: Pipeline[] = [];
  private pending: HereDocument[] = [];
  /** A here-document outside this `$( )` waits for the end of its line: shells differ in where that is. */
  private outerPending = false;
  private inDoubleBrackets = false;

  get openCommand(): number {
    return this.open[0]?.start ?? this.at;
  }

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
  private list(close: 'end' | ')' | ';;', upstream?: Upstream): Ending {
    const listStart = this.at;
    const depth = this.open.length;
    let pipeline = this.openPipeline(depth, upstream);
    let command = newCommand();
    let afterPipe = false;
    const finish = (separator: string) => {
      this.at += separator.length;
      this.finishCommand(command, pipeline);
      command = newCommand();
      afterPipe = separator[0] === '|' && separator !== '||';
      if (!afterPipe) pipeline = this.openPipeline(depth, upstream);
    };
    const leave = <E extends Ending>(ending: E, length: number): E => {
      this.finishCommand(command, pipeline);
      this.at += length;
      this.open.length = depth;
      return ending;
    };

    for (;;) {
      this.skipBlanks();
      if (!command.begun) command.start = this.at;
      if (!command.begun && !afterPipe) pipeline.start = this.at;
      const separator = ['&&', '||', '|&', '|', ';', '&'].find((text) => this.looksAt(text));
      if (this.at >= this.end) {
        return close === 'end'
          ? leave('end', 0)
          : this.doubt(close === ')' ? 'an unclosed (' : 'a case without esac', listStart);
      }
      if (this.looksAt('\n')) {
        if (command.begun) this.finishCommand(command, pipeline);
        // The bodies belong to the command that is just ending.
        this.newline();
        if (command.begun) afterPipe = false;
        if (!afterPipe) pipeline = this.openPipeline(depth, upstream);
        command = newCommand();
      } else if (this.looksAt('#')) this.comment();
      else if (this.looksAt(';;') || this.looksAt(';&')) {
        return close === ';;' ? leave(';;', this.looksAt(';;&') ? 3 : 2) : this.doubt('an unexpected ;;');
      } else if (this.looksAt('<') || this.looksAt('>') || this.looksAt('&>')) this.redirection(command, pipeline);
      else if (separator !== undefined) finish(separator);
      else if (this.looksAt('(')) {
        if (command.words.length > 0) this.functionHead(command);
        else this.subshell(command, pipeline);
        if (!command.begun) command = newCommand();
      } else if (this.looksAt(')')) return close === ')' ? leave(')', 1) : this.doubt('an unexpected )');
      else {
        const word = this.word();
        const isReserved = word.plain && !command.begun;
        if (isReserved && close === ';;' && word.text === 'esac') return leave('esac', 0);
        if (isReserved && CLOSERS.has(word.text)) pipeline.start = listStart;
        if (isReserved && this.reserved(word, command, pipeline)) continue;
        if (isLoopBody(word, command)) finish('');
        else this.append(word, command);
      }
    }
  }

  private openPipeline(depth: number, upstream: Upstream | undefined): Pipeline {
    const pipeline: Pipeline = { start: this.at, runsItsInput: false, hereDocuments: [], upstream };
    this.open.length = depth;
    this.open.push(pipeline);
    return pipeline;
  }

  private append(word: Word, command: Command): void {
    const isFileDescriptor = /^\d+$/.test(word.raw) && (this.looksAt('<') || this.looksAt('>'));
    if (isFileDescriptor) return;
    if (word.plain && word.text === '[[' && command.words.length === 0) this.inDoubleBrackets = true;
    if (this.inDoubleBrackets) this.refuse(word.start, word.end, refusals.DOUBLE_BRACKETS);
    if (word.plain && word.text === ']]') this.inDoubleBrackets = false;
    command.words.push(word);
    command.begun = true;
  }

  private finishCommand(command: Command, pipeline: Pipeline): void {
    const findings = inspectCommand(command.words, HOLE);
    for (const { word, why } of findings.refused) this.refuse(word.start, word.end, why);
    if (!findings.runsItsInput) return;
    for (const word of command.hereStrings) this.refuse(word.start, word.end, refusals.SHELL_INPUT);
    this.feedShell({ pipeline, until: command.start });
  }

  /** All that is before `until` in the pipeline, and its here-documents, are the input of a shell. */
  private feedShell({ pipeline, until }: Upstream): void {
    pipeline.runsItsInput = true;
    this.refuse(pipeline.start, until, refusals.SHELL_INPUT);
    for (const [start, end] of pipeline.hereDocuments) this.refuse(start, end, refusals.SHELL_INPUT);
    if (pipeline.upstream !== undefined) this.feedShell(pipeline.upstream);
  }

  /** True if the word was part of the grammar, not of a command. */
  private reserved(word: Word, command: Command, pipeline: Pipeline): boolean {
    if (DIFFERING_KEYWORDS.has(word.text)) this.doubt(word.text);
    if (OPENERS.has(word.text)) return true;
    const closes = CLOSERS.has(word.text);
    if (word.text === 'case') this.caseClause({ pipeline, until: word.start });
    command.begun ||= closes || word.text === 'case';
    return command.begun;
  }

  private caseClause(upstream: Upstream): void {
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
      for (this.skipBlanks(); this.looksAt('|'); this.skipBlanks()) {
        this.at++;
        this.skipBlanks();
        this.word();
      }
      if (!this.looksAt(')')) this.doubt('a pattern without )');
      this.at++;
      if (this.list(';;', upstream) === 'esac') return;
    }
  }

  private subshell(command: Command, pipeline: Pipeline): void {
    if (command.begun || this.looksAt('((')) this.doubt('((');
    const until = this.at++;
    this.list(')', { pipeline, until });
    command.begun = true;
  }

  /** `name()`: what follows is a command again. */
  private functionHead(command: Command): void {
    const [name, ...others] = command.words;
    const parentheses = /\([ \t]*\)/y;
    parentheses.lastIndex = this.at;
    if (name === undefined || others.length > 0 || name.raw.includes('=') || !parentheses.test(this.source)) {
      this.doubt('an unexpected (');
    }
    this.refuse(name.start, name.end, refusals.NAME);
    this.at = parentheses.lastIndex;
    command.begun = false;
  }

  private redirection(command: Command, pipeline: Pipeline): void {
    const operator = this.take(REDIRECTIONS.find((text) => this.looksAt(text))!);
    if (this.looksAt('(')) this.doubt(`${operator}(`);
    command.begun = true;
    this.skipBlanks();
    if (operator === '<<' || operator === '<<-') {
      this.pending.push({ ...this.delimiter(), stripsTabs: operator === '<<-', pipeline });
      return;
    }
    const target = this.word();
    if (operator === '<<<') command.hereStrings.push(target);
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

  /** The end of a line, and the here-documents that begin after it. */
  private newline(): void {
    if (this.outerPending) this.doubt('a line end inside $( ) after <<');
    this.at++;
    const documents = this.pending;
    this.pending = [];
    for (const document of documents) this.hereDocument(document);
  }

  private hereDocument({ delimiter, quoted, stripsTabs, pipeline }: HereDocument): void {
    const start = this.at;
    let lineStart = start;
    let lineEnd = start;
    for (; ; lineStart = lineEnd + 1) {
      if (lineStart >= this.end) this.doubt(`a here-document without its ${delimiter}`, start);
      lineEnd = this.source.indexOf('\n', lineStart);
      if (lineEnd < 0 || lineEnd > this.end) lineEnd = this.end;
      const line = this.source.slice(lineStart, lineEnd);
      const text = stripsTabs ? line.replace(/^\t+/, '') : line;
      if (text === delimiter && !this.hasHoles(lineStart, lineEnd)) break;
      // bash takes this for the end of the document and of the `$( )` around it.
      if (text.startsWith(`${delimiter})`)) this.doubt(`${delimiter}) in a here-document`, lineStart);
    }
    if (quoted) this.refuse(start, lineStart, refusals.QUOTED_HERE_DOCUMENT);
    else {
      if (/\\\n$/.test(this.source.slice(start, lineStart))) this.doubt(`a backslash before ${delimiter}`);
      this.hereText(lineStart, delimiter);
    }
    pipeline.hereDocuments.push([start, lineStart]);
    if (pipeline.runsItsInput) this.refuse(start, lineStart, refusals.SHELL_INPUT);
    this.at = Math.min(this.end, lineEnd + 1);
  }
}

function newCommand(): Command {
  return { start: 0, words: [], hereStrings: [], begun: false };
}

/** The `do` of `for name do`, where no separator is needed. */
function isLoopBody(word: Word, { words }: Command): boolean {
  return word.plain && word.text === 'do' && words.length === 2 && words[0]!.plain && words[0]!.text === 'for';
}
