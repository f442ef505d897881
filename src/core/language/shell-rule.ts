import type { Call } from './shell-call.ts';
import { type Command, Lexer } from './shell-lexer.ts';
import { codeOptions, optionLike } from './shell-options.ts';
import { isInput, programOf, readCall } from './shell-programs.ts';
import type { Refusal } from './shell-refusals.ts';
import * as refusals from './shell-refusals.ts';
import { beginsWith, isAssignment, isOpen, openVariables, SETTINGS, valuedVariables } from './shell-variables.ts';
import { HOLE, type Word } from './shell-word.ts';
import { HARMLESS, isEntry, isWrapped, isWrapper, programAt, startsShell, wrappedAt } from './shell-wrappers.ts';
import { redirectsTo, writesFile } from './shell-writes.ts';

/**
 * The shell that runs a block never reads a value as code, because each value is a quoted reference. That leaves a
 * second program that runs code and gets text with a value in it. The rule in short:
 * - a value is never part of the words that tell such a program what to run;
 * - if any such program of the block runs something that is not literal (a variable, the output of a command, its
 *   input, a file that the block may write), the block can't have values at all;
 * - if a value that begins with `-` would be an option of a known program, the block does not run with such a value.
 */
export interface Verdict {
  readonly refused: readonly { readonly word: Word; readonly why: Refusal }[];
  /** The block can't have values, because of what is at this offset. */
  readonly everywhere?: { readonly at: number; readonly why: (line: number) => Refusal } | undefined;
  /** Words that would be an option of this program if their value begins with `-`. */
  readonly options: readonly { readonly word: Word; readonly program: string }[];
  /** The same for all values of the block, because one of its variables holds them. */
  readonly optionOf?: string | undefined;
}

/** bash evaluates the subscript of a name such as `a[$(command)]`. */
const NAMERS = new Set('unset read getopts let declare typeset mapfile readarray for select'.split(' '));
const ASSIGNERS = new Set('export readonly local'.split(' '));
/** Their options neither run a program nor write a file. */
const ONLY_READ = new Set('cat ls cp mv rm ln tee chmod chown mkdir touch grep egrep fgrep'.split(' '));
/** Commands that give a program another name. */
const RENAMERS = new Set('alias hash enable'.split(' '));

export function judge(block: Lexer): Verdict {
  return new Judge(block).judge();
}

interface Inherited {
  readonly open: ReadonlySet<string>;
  readonly valued: ReadonlySet<string>;
}

class Judge {
  readonly #block: Lexer;
  /** The lexers of the texts around this one. */
  readonly #outer: readonly Lexer[];
  /** Variables that may contain anything, and those of them that a value was assigned to. */
  readonly #open: ReadonlySet<string>;
  readonly #valued: ReadonlySet<string>;
  readonly #refused: { word: Word; why: Refusal }[] = [];
  readonly #options: { word: Word; program: string }[] = [];
  #optionOf: string | undefined;
  #everywhere: Verdict['everywhere'];
  /** A function or `sh -c '"$@"'` runs its arguments. */
  runsArguments = false;

  constructor(block: Lexer, outer: readonly Lexer[] = [], inherited?: Inherited) {
    this.#block = block;
    this.#outer = outer;
    this.#open = openVariables(block.commands, inherited?.open);
    this.#valued = valuedVariables(block, inherited?.valued);
    this.runsArguments = block.commands.some(({ words }) => {
      const [program, ...rest] = commandOf(words);
      return isArguments(program) || (isWrapper(program?.text ?? '') && rest.some(isArguments));
    });
  }

  judge(): Verdict {
    for (const command of this.#block.commands) this.#command(command);
    for (const { at, text } of this.#block.backticked) this.#lookInto(text, at, []);
    const sums = this.#block.commands.flatMap(({ words }) => (words[0]?.text === 'let' ? words : []));
    const counted = [...this.#block.counted, ...sums.flatMap(({ text }) => text.match(/[A-Za-z_]\w*/g) ?? [])];
    const isChecked = this.#block.patterns.some((pattern) => pattern.includes('[!0-9]'));
    if (!isChecked && counted.some((name) => this.#valued.has(name))) this.#stop(0, () => refusals.COUNTED);
    return {
      refused: this.#refused,
      everywhere: this.#everywhere,
      options: this.#options,
      optionOf: this.#optionOf,
    };
  }

  #refuse(words: readonly (Word | undefined)[], why: Refusal): void {
    for (const word of words) if (word?.hasHole) this.#refused.push({ word, why });
  }

  #stop(at: number, why: (line: number) => Refusal): void {
    this.#everywhere ??= { at, why };
  }

  /** A value in these words would be code, and so would the content of a variable. */
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
    if (words.length > 0) this.#named(words, command);
  }

  /** A program and its arguments, also behind a wrapper. */
  #named(words: readonly Word[], command: Command): void {
    const [program, ...rest] = words as readonly [Word, ...Word[]];
    const name = programOf(program);
    if (name === undefined) {
      this.#unknownProgram(program);
      return;
    }
    this.#builtin(name, rest);
    for (const word of codeOptions(words)) this.#mustBeLiteral(word, refusals.CODE_OPTION, name);
    for (const word of optionLike(words)) this.#mayBeOption(word, name);
    if (!this.#block.functions.has(name)) this.#runFile(program, program.text.includes('/'));
    if (HARMLESS.has(name) || (name === 'command' && /^-[vV]/.test(rest[0]?.text ?? ''))) return;
    this.#program(name, words, command);
  }

  #unknownProgram(program: Word): void {
    if (isArguments(program)) return;
    this.#refuse([program], refusals.CHOSEN_PROGRAM);
    this.#stop(program.start, (line) => refusals.unknownProgram(program.raw.replaceAll(HOLE, '...'), line));
  }

  #mayBeOption(word: Word, program: string): void {
    if (word.startsWithHole) this.#options.push({ word, program });
    else if (this.#valued.has(beginsWith(word))) this.#optionOf ??= program;
  }

  /** Finds the program that runs code among the words, and checks its arguments. */
  #program(name: string, words: readonly Word[], command: Command): void {
    // A function drops as many words as it shifts.
    const shifts = this.#block.commands.filter(({ words: [first] }) => first?.text === 'shift').length;
    const isRunner = this.runsArguments && this.#block.functions.has(name);
    const wrapped = isRunner ? programAt(words, 1, shifts, '') : wrappedAt(name, words);
    if (name === 'find') this.#find(words, command);
    else if (wrapped !== undefined) this.#wrapper(name, words, wrapped, command);
    else {
      const entry = words.find((word, at) => isEntry(word, words[at - 1]));
      if (entry) this.#stop(entry.start, (line) => refusals.runsInput(entry.text, line));
      const at = words.findIndex((_, index) => (index === 0 || isWrapped(words, index)) && readCall(words, index));
      if (at >= 0) this.#call(words[at]!, readCall(words, at)!, command);
    }
  }

  #find(words: readonly Word[], command: Command): void {
    for (const [at, { text }] of words.entries()) {
      if (/^-(exec|execdir|ok|okdir)$/.test(text) && words[at + 1]) this.#named(words.slice(at + 1), command);
    }
  }

  #wrapper(name: string, words: readonly Word[], at: number, command: Command): void {
    if (name === 'xargs') this.#appended(words, at, command);
    if (name === 'env') this.#codeOption(words, at, /^-S|^--split-string/);
    if (name === 'flock') this.#codeOption(words, at, /^(-c|--command)/);
    if (at < words.length) this.#named(words.slice(at), command);
    else if (startsShell(words)) this.#input(words[0]!, true, command);
  }

  /** xargs puts its input where `-I` says, or after its words; one value may become several words. */
  #appended(words: readonly Word[], at: number, command: Command): void {
    const first = words[0]!;
    if (at >= words.length) return;
    const option = words.findIndex(({ text }, index) => index < at && /^(-[IJ]|--replace)/.test(text));
    const mark =
      option < 0 ? undefined : words[option]!.text.replace(/^(-[IJ]|--replace=?)/, '') || words[option + 1]!.text;
    const read = { ...first, raw: HOLE, text: HOLE, startsWithHole: true, hasHole: true, expands: [HOLE] };
    const given = words.slice(at).map((word) => (mark && word.text.includes(mark) ? read : word));
    const probe = new Judge(this.#block, this.#outer, { open: this.#open, valued: this.#valued });
    probe.#named(mark ? given : [...given, read, read], command);
    const before = this.#block.commands.slice(0, this.#block.commands.indexOf(command));
    const holdsValue = before.some(({ words: [printer, ...rest], redirections }) => {
      const printed = /^(echo|printf)$/.test(printer?.text ?? '') ? rest : [];
      return [...printed, ...redirections.map(({ target }) => target)].some((word) => word.hasHole);
    });
    if (probe.#refused.some(({ word }) => word === read) || (probe.#everywhere && !this.#everywhere)) {
      this.#stop(first.start, (line) => refusals.runsInput(first.text, line));
    } else if (holdsValue && probe.#options.some(({ word, program }) => word === read && !ONLY_READ.has(program))) {
      this.#stop(first.start, (line) => refusals.readsOptions(first.text, line));
    }
  }

  /** `env -S` and `flock -c` take shell text. */
  #codeOption(words: readonly Word[], end: number, option: RegExp): void {
    const at = words.findIndex(({ text }) => option.test(text));
    if (at < 0 || at >= end) return;
    for (const word of words.slice(at)) this.#mustBeLiteral(word, refusals.SHELL_TEXT, words[0]!.text);
  }

  #call(program: Word, call: Call, command: Command): void {
    const name = programOf(program)!;
    for (const { word, why } of call.code) this.#mustBeLiteral(word, why, name);
    for (const word of call.leading ?? []) this.#mayBeOption(word, name);
    // `find -exec sh -c '... {} ...'` pastes file names into the code.
    if (call.shellText?.includes('{}')) this.#stop(program.start, (line) => refusals.notLiteral(name, line));
    const isFixed = !call.code.some(({ word }) => this.#isOpen(word));
    if (call.shellText && isFixed) this.#lookInto(call.shellText, program.start, call.values);
    const isFromInput = call.script !== undefined && isInput(call.script.text);
    if (call.script && !isFromInput) this.#runFile(call.script, true);
    if (/^g?make$/.test(name)) this.#make(program, call, command);
    if (call.runsInput || isFromInput) this.#input(program, call.isShell ?? false, command);
  }

  /** make expands its variables, and also takes them from the environment. */
  #make(program: Word, call: Call, command: Command): void {
    if (!call.script) this.#runFile({ ...program, text: 'Makefile', expands: [] }, true);
    const exported = this.#block.commands.filter(({ words }) => words[0]?.text === 'export');
    for (const { words } of [command, ...exported]) this.#refuse(words.filter(isAssignment), refusals.EVALUATED);
  }

  /** Code for another shell, which has the variables of this one. */
  #lookInto(code: string, at: number, values: readonly Word[]): void {
    const inner = new Lexer(code, []);
    const doubt = inner.read();
    const holdsValue = values.some(({ hasHole, expands }) => hasHole || expands.some((each) => this.#valued.has(each)));
    const valued = new Set([...this.#valued, ...(holdsValue ? '0123456789@*' : '')]);
    const judged = new Judge(inner, [this.#block, ...this.#outer], { open: this.#open, valued });
    const { everywhere, optionOf } = judged.judge();
    if (doubt !== undefined) this.#stop(at, (line) => refusals.notLiteral('sh', line));
    if (everywhere) this.#stop(at, everywhere.why);
    this.#optionOf ??= optionOf;
    if (judged.runsArguments && values.length > 1) this.#named(values.slice(1), { words: values, redirections: [] });
  }

  /** The program runs its input, of which only literal text is known. */
  #input(program: Word, isShell: boolean, { redirections }: Command): void {
    const own = redirections.filter(({ operator }) => /^0?</.test(operator)).at(-1);
    if (own?.target.hasHole) this.#refuse([own.target], refusals.SHELL_INPUT);
    else if (own === undefined || own.operator.includes('&') || this.#isOpen(own.target)) {
      this.#stop(program.start, (line) => refusals.runsInput(program.text, line));
    } else if (!own.operator.includes('<<')) this.#runFile(own.target, true);
    else if (isShell) this.#lookInto(own.target.text.replace(/^\t+/gm, ''), program.start, []);
  }

  /** `isFile`: certainly a file, not a program found by its name. */
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
    if (RENAMERS.has(name) && rest.some(({ text }) => !/^-[lrdt]/.test(text)) && this.#block.commands.length > 1)
      this.#stop(rest[0]!.start, (line) => refusals.renames(name, line));
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
      const [first, second] = rest;
      if (name === 'printf' && first?.startsWithHole) this.#refuse([first], refusals.FORMAT);
      if (name !== 'printf' && first?.startsWithHole && second?.startsWithHole) this.#refuse([second], refusals.NAME);
      // `printf "$v"` and `test "$v" "$w"` with `-v`.
      const isTwo = second?.expands.length && rest.filter(({ text }) => text !== ']').length === 2;
      if (first && (name === 'printf' || isTwo)) this.#mayBeOption(first, name);
    }
  }
}

/** Without the preceding assignments. */
function commandOf(words: readonly Word[]): readonly Word[] {
  const first = words.findIndex((word) => !isAssignment(word));
  return first < 0 ? [] : words.slice(first);
}

function isArguments(word: Word | undefined): boolean {
  return word !== undefined && /^"?\$[@*]"?$/.test(word.raw);
}

/** A hole before the `=`, or in the subscript, of an assignment. */
function isNamedByValue(word: Word): boolean {
  const head = word.raw.slice(0, Math.max(0, word.raw.search(/\]?\+?=/)));
  return head.includes(HOLE) && (/^\w+\[/.test(head) || head.replaceAll(HOLE, '').match(/^\w*$/) !== null);
}
