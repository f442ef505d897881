import { type Command, Lexer } from './shell-lexer.ts';
import { type Call, isInput, programOf, readCall } from './shell-programs.ts';
import type { Refusal } from './shell-refusals.ts';
import * as refusals from './shell-refusals.ts';
import { isAssignment, isOpen, openVariables, valuedVariables } from './shell-variables.ts';
import { HOLE, type Word } from './shell-word.ts';
import { HARMLESS, isEntry, isWrapped, startsShell, WRAPPERS } from './shell-wrappers.ts';
import { redirectsTo, writesFile } from './shell-writes.ts';

/**
 * The shell that runs a block never reads a value as code: each is a quoted reference. What is left is a second
 * program that runs code, and gets text that a value is in. The rule, in short:
 * - a value never stands in the words that say what such a program runs;
 * - if any such program of the block runs something that is not literal (a variable, a command's output, its input, a
 *   file that the block may write), no value may stand anywhere in the block.
 */
export interface Verdict {
  readonly refused: readonly { readonly word: Word; readonly why: Refusal }[];
  /** No value may stand in this block, because of what is at this offset. */
  readonly everywhere?: { readonly at: number; readonly why: (line: number) => Refusal } | undefined;
}

/** bash evaluates the subscript of a name such as `a[$(command)]`. */
const NAMERS = new Set('unset read getopts let declare typeset mapfile readarray for select'.split(' '));
const ASSIGNERS = new Set('export readonly local'.split(' '));
/** Programs run what these hold, or start other programs because of them. */
const SETTINGS =
  /^(PS[0-4]|ENV|BASH_ENV|PROMPT_COMMAND|IFS|PATH|SHELL|EDITOR|VISUAL|PAGER|MANPAGER|LESSOPEN|LD_\w+|DYLD_\w+|GIT_\w*(COMMAND|EDITOR|PAGER|DIFF|ASKPASS|SSH|CONFIG\w*)|PYTHON(STARTUP|PATH|HOME|INSPECT)|PERL5\w+|RUBY(OPT|LIB)|NODE_OPTIONS|NODE_PATH|MAKEFLAGS|JAVA_TOOL_OPTIONS)\+?=/;

export function judge(block: Lexer): Verdict {
  return new Judge(block).judge();
}

class Judge {
  readonly #block: Lexer;
  /** Those that this one is a text in. */
  readonly #outer: readonly Lexer[];
  readonly #open: ReadonlySet<string>;
  readonly #refused: { word: Word; why: Refusal }[] = [];
  #everywhere: Verdict['everywhere'];
  /** A function or `sh -c '"$@"'` runs its arguments. */
  runsArguments = false;

  constructor(block: Lexer, outer: readonly Lexer[] = [], inherited: ReadonlySet<string> = new Set()) {
    this.#block = block;
    this.#outer = outer;
    this.#open = openVariables(block.commands, inherited);
    this.runsArguments = block.commands.some(({ words }) => {
      const [program, ...rest] = commandOf(words);
      return isArguments(program) || (WRAPPERS.has(program?.text ?? '') && rest.some(isArguments));
    });
  }

  judge(): Verdict {
    for (const command of this.#block.commands) this.#command(command);
    for (const { at, text } of this.#block.backticked) this.#lookInto(text, at, []);
    const valued = valuedVariables(this.#block.commands);
    const sums = this.#block.commands.flatMap(({ words }) => (words[0]?.text === 'let' ? words : []));
    const counted = [...this.#block.counted, ...sums.flatMap(({ text }) => text.match(/[A-Za-z_]\w*/g) ?? [])];
    const isGuarded = this.#block.patterns.some((pattern) => pattern.includes('[!0-9]'));
    if (!isGuarded && counted.some((name) => valued.has(name))) this.#stop(0, () => refusals.COUNTED);
    return { refused: this.#refused, everywhere: this.#everywhere };
  }

  #refuse(words: readonly (Word | undefined)[], why: Refusal): void {
    for (const word of words) if (word?.hasHole) this.#refused.push({ word, why });
  }

  #stop(at: number, why: (line: number) => Refusal): void {
    this.#everywhere ??= { at, why };
  }

  /** A value in these words would be code; so would what is in a variable. */
  #mustBeLiteral(word: Word, why: Refusal, program: string): void {
    this.#refuse([word], why);
    if (!word.hasHole && this.#isOpen(word)) this.#stop(word.start, (line) => refusals.notLiteral(program, line));
  }

  #isOpen(word: Word): boolean {
    return word.hasHole || word.expands.some((expanded) => this.#open.has(expanded) || isOpen(expanded));
  }

  #command(command: Command): void {
    const words = commandOf(command.words);
    const assignments = command.words.slice(0, command.words.length - words.length);
    for (const word of command.words.filter(({ raw }) => SETTINGS.test(raw))) {
      this.#mustBeLiteral(word, refusals.SHELL_SETTING, word.raw.split('=')[0]!);
    }
    this.#refuse([...assignments, ...words.slice(0, 1)].filter(isNamedByValue), refusals.NAME);
    const [program, ...rest] = words;
    if (program === undefined) return;
    const name = programOf(program);
    if (name === undefined) {
      this.#unknownProgram(program);
      return;
    }
    this.#builtin(name, rest);
    if (!this.#block.functions.has(name)) this.#runFile(program, program.text.includes('/'));
    if (HARMLESS.has(name) || (name === 'command' && /^-[vV]/.test(rest[0]?.text ?? ''))) return;
    this.#program(words, command);
  }

  #unknownProgram(program: Word): void {
    if (isArguments(program)) return;
    this.#refuse([program], refusals.CHOSEN_PROGRAM);
    this.#stop(program.start, (line) => refusals.unknownProgram(program.raw.replaceAll(HOLE, '...'), line));
  }

  /** Finds the program that runs code among the words, and looks at what it is given. */
  #program(words: readonly Word[], command: Command): void {
    const name = programOf(words[0]!);
    if (name === undefined) this.#unknownProgram(words[0]!);
    else if (name === 'find') this.#find(words, command);
    else if (WRAPPERS.has(name) || (this.runsArguments && this.#block.functions.has(name))) {
      this.#wrapper(name, words, command);
    } else {
      if (/^(npm|npx|pnpm|yarn|bunx)$/.test(name)) this.#codeOption(words, /^(-c|--call)/);
      const entry = words.find((word, at) => isEntry(word, words[at - 1]));
      if (entry) this.#stop(entry.start, (line) => refusals.runsInput(entry.text, line));
      const at = words.findIndex((_, index) => (index === 0 || isWrapped(words, index)) && readCall(words, index));
      if (at >= 0) this.#call(words[at]!, readCall(words, at)!, words, command);
    }
  }

  #find(words: readonly Word[], command: Command): void {
    for (const [at, { text }] of words.entries()) {
      const program = words[at + 1];
      if (!/^-(exec|execdir|ok|okdir)$/.test(text) || program === undefined) continue;
      if (program.text.includes('/')) this.#runFile(program, true);
      this.#program(words.slice(at + 1), command);
    }
  }

  #wrapper(name: string, words: readonly Word[], command: Command): void {
    // A function drops as many words as it shifts.
    const shifts = this.#block.commands.filter(({ words: [first] }) => first?.text === 'shift').length;
    const operands = WRAPPERS.get(name) ?? shifts;
    this.#chosenProgram(words, operands);
    for (const [at, word] of words.entries()) {
      const isArgument = at > 1 && (name === 'xargs' ? /^-[nPIJLsEd]$/ : /^-/).test(words[at - 1]!.text);
      const program = programOf(word) ?? '';
      if (at > operands && !isArgument && HARMLESS.has(program)) return;
      if (at > operands && program === 'find') {
        this.#find(words.slice(at), command);
        return;
      }
      const call = at > 0 ? readCall(words, at) : undefined;
      if (call) {
        this.#call(word, call, words, command);
        return;
      }
    }
    if (name === 'env') this.#codeOption(words, /^-S|^--split-string/);
    if (name === 'flock') this.#codeOption(words, /^(-c|--command)/);
    if (startsShell(name, words, operands)) this.#input(words[0]!, true, command);
  }

  /** `env -S` and `flock -c` take shell text. */
  #codeOption(words: readonly Word[], option: RegExp): void {
    const at = words.findIndex(({ text }) => option.test(text));
    if (at < 0) return;
    for (const word of words.slice(at)) this.#mustBeLiteral(word, refusals.SHELL_TEXT, words[0]!.text);
  }

  /** A wrapper in front of a program that the value, or a variable, names. */
  #chosenProgram(words: readonly Word[], operands: number): void {
    for (let at = 1 + operands; at < words.length; at++) {
      const word = words[at]!;
      if (/^-|^\d+[smhd]?$/.test(word.text) || isAssignment(word)) continue;
      const follows = words
        .slice(at + 1)
        .some((later) => programOf(later) !== undefined && !later.text.startsWith('-'));
      if (words[at - 1]!.text.startsWith('-') && at > 1 && follows) continue;
      if (programOf(word) === undefined) this.#unknownProgram(word);
      else if (word.text.includes('/')) this.#runFile(word, true);
      return;
    }
  }

  #call(program: Word, call: Call, words: readonly Word[], command: Command): void {
    const name = programOf(program)!;
    for (const { word, why } of call.code) this.#mustBeLiteral(word, why, name);
    // `find -exec sh -c '... {} ...'` and `xargs -I% sh -c '... % ...'` paste what they find into the code.
    const isPasted =
      call.shellText?.includes('{}') ||
      (words[0]!.text === 'xargs' && words.some(({ text }) => /^(-[IiJ]|--replace)/.test(text)));
    if (isPasted && call.code.length > 0) this.#stop(program.start, (line) => refusals.notLiteral(name, line));
    const isFixed = !call.code.some(({ word }) => this.#isOpen(word));
    if (call.shellText && isFixed) this.#lookInto(call.shellText, program.start, call.values);
    const isFromInput = call.script !== undefined && isInput(call.script.text);
    if (call.script && !isFromInput) this.#runFile(call.script, true);
    if (/^g?make$/.test(name) && !call.script) this.#runFile({ ...program, text: 'Makefile', expands: [] }, true);
    if (call.runsInput || isFromInput) this.#input(program, call.isShell ?? false, command);
  }

  /** Code for another shell, which has the variables of this one. */
  #lookInto(code: string, at: number, values: readonly Word[]): void {
    const inner = new Lexer(code, []);
    const doubt = inner.read();
    const judged = new Judge(inner, [this.#block, ...this.#outer], this.#open);
    if (doubt !== undefined || judged.judge().everywhere) this.#stop(at, (line) => refusals.notLiteral('sh', line));
    if (judged.runsArguments && values.length > 1) this.#program(values.slice(1), { words: values, redirections: [] });
  }

  /** The program runs what it reads: only what is written right there for it is known. */
  #input(program: Word, isShell: boolean, { redirections }: Command): void {
    const own = redirections.filter(({ operator }) => /^0?</.test(operator)).at(-1);
    if (own?.target.hasHole) this.#refuse([own.target], refusals.SHELL_INPUT);
    else if (own === undefined || own.operator.includes('&') || this.#isOpen(own.target)) {
      this.#stop(program.start, (line) => refusals.runsInput(program.text, line));
    } else if (!own.operator.includes('<<')) this.#runFile(own.target, true);
    else if (isShell) this.#lookInto(own.target.text.replace(/^\t+/gm, ''), program.start, []);
  }

  /** `isFile`: it is certainly a file, not a program that is found by its name. */
  #runFile(file: Word, isFile: boolean): void {
    const name = programOf(file);
    const stop = (why: (line: number) => Refusal) => this.#stop(file.start, why);
    if (isInput(file.text)) stop((line) => refusals.runsInput(file.text, line));
    else if (name === undefined || (isFile && /[*?[]/.test(name))) {
      if (isFile && !file.hasHole) stop((line) => refusals.unknownProgram(file.raw, line));
    } else if (writesFile(this.#block, name, isFile) || this.#outer.some((block) => redirectsTo(block, name, isFile))) {
      stop((line) => refusals.writesAndRuns(name, line));
    }
  }

  #builtin(name: string, rest: readonly Word[]): void {
    // `set -- a b` and `"$@"` later.
    if (name === 'set' && this.runsArguments && rest[0])
      this.#stop(rest[0].start, (line) => refusals.unknownProgram('"$@"', line));
    const named = (word: Word) => this.#mustBeLiteral(word, refusals.NAME, name);
    if (name === 'for' || name === 'select') this.#refuse(rest.slice(0, 1), refusals.NAME);
    else if (NAMERS.has(name)) for (const word of rest) named(word);
    else if (ASSIGNERS.has(name)) {
      const evaluates = rest.some((word) => /^-\w*i/.test(word.text));
      for (const word of rest) if (evaluates || !isAssignment(word)) named(word);
    } else if (name === 'printf' || name === 'test' || name === '[') {
      for (const [index, word] of rest.entries()) if (rest[index - 1]?.text === '-v') named(word);
      if (name === 'printf' && rest[0]?.startsWithHole) this.#refuse([rest[0]], refusals.FORMAT);
      if (name !== 'printf' && rest[0]?.startsWithHole && rest[1]?.startsWithHole)
        this.#refuse([rest[1]], refusals.NAME);
    }
  }
}

/** Without the assignments before it. */
function commandOf(words: readonly Word[]): readonly Word[] {
  const first = words.findIndex((word) => !isAssignment(word));
  return first < 0 ? [] : words.slice(first);
}

function isArguments(word: Word | undefined): boolean {
  return word !== undefined && /^"?\$[@*]"?$/.test(word.raw);
}

/** A hole before the `=`, or in the subscript, of what would be an assignment. */
function isNamedByValue(word: Word): boolean {
  const head = word.raw.slice(0, Math.max(0, word.raw.search(/\]?\+?=/)));
  return head.includes(HOLE) && (/^\w+\[/.test(head) || head.replaceAll(HOLE, '').match(/^\w*$/) !== null);
}
