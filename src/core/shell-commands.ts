import type { Refusal } from './shell-refusals.ts';
import * as refusals from './shell-refusals.ts';

/** One word of a command. Offsets are those of the block. */
export interface Word {
  readonly start: number;
  readonly end: number;
  readonly raw: string;
  /** Without its quotes; expansions as they are written. */
  readonly text: string;
  /** Plain characters only, so that it may be a reserved word. */
  readonly plain: boolean;
  /** The value of a cell is the beginning of the word, and might begin with `-`. */
  readonly startsWithHole: boolean;
  /** Also inside a `$( )` of the word. */
  readonly hasHole: boolean;
}

export interface Findings {
  readonly refused: readonly { readonly word: Word; readonly why: Refusal }[];
  /** What comes in on standard input is run as commands. */
  readonly runsItsInput: boolean;
}

const SHELLS = new Set('sh bash dash ksh zsh ash mksh yash rbash fish csh tcsh'.split(' '));
/** Programs that hand the word after `-c` to a shell. */
const SHELL_CALLERS = new Set('su runuser script flock'.split(' '));
/** The next word that is no option is the program. */
const PREFIXES = new Set('command builtin exec time nohup setsid env'.split(' '));
/** The program is somewhere behind, after options that differ from one to the other. */
const WRAPPERS = new Set(
  'nice sudo doas timeout stdbuf chroot busybox sshpass xargs find docker podman kubectl ssh'.split(' '),
);
/** Every argument is shell text, or becomes part of one. */
const EVALUATORS = new Set('eval trap alias watch parallel'.split(' '));
const INPUT_RUNNERS = new Set('at batch crontab parallel'.split(' '));
/** bash evaluates the subscript of a name such as `a[$(command)]`. */
const NAMERS = new Set('unset read getopts let declare typeset mapfile readarray for select'.split(' '));
const ASSIGNERS = new Set('export readonly local'.split(' '));
const EXPANDED_SETTINGS = /^(PS[0-4]|ENV|BASH_ENV|PROMPT_COMMAND)\+?=/;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=/;
const SSH_OPTIONS_WITH_ARGUMENT = /^-[A-Za-z0-9]*[BbcDEeFIiJLlmOopPQRSWw]$/;

/** What a simple command makes of its words: which of them a value of the table must not be in. */
export function inspectCommand(all: readonly Word[], hole: string): Findings {
  const refused: { word: Word; why: Refusal }[] = [];
  const refuse = (words: readonly (Word | undefined)[], why: Refusal) => {
    for (const word of words) if (word?.hasHole) refused.push({ word, why });
  };
  const firstWord = all.findIndex((word) => !ASSIGNMENT.test(word.raw));
  const assignments = firstWord < 0 ? all : all.slice(0, firstWord);
  const words = firstWord < 0 ? [] : all.slice(firstWord);
  refuse(
    assignments.filter((word) => EXPANDED_SETTINGS.test(word.raw)),
    refusals.SHELL_SETTING,
  );
  refuse(
    [...assignments, ...words.slice(0, 1)].filter((word) => isNamedBy(word, hole)),
    refusals.NAME,
  );

  const at = words.findIndex((word) => !PREFIXES.has(programOf(word)) && !/^[-+]/.test(word.text));
  const program = words[at];
  if (program !== undefined) inspectProgram(program, words.slice(at + 1), refuse);

  let runsItsInput = program !== undefined && INPUT_RUNNERS.has(programOf(program));
  const wrapped = program !== undefined && WRAPPERS.has(programOf(program));
  words.forEach((word, index) => {
    const rest = words.slice(index + 1);
    const inCommandPosition = index <= at || wrapped;
    if (SHELL_CALLERS.has(programOf(word))) {
      const code = wordsAfterDashC(rest);
      refuse(code, refusals.SHELL_TEXT);
      runsItsInput ||= inCommandPosition && code.length === 0 && programOf(word) !== 'flock';
    }
    if (programOf(word) === 'ssh' && inCommandPosition) runsItsInput ||= inspectSsh(rest, refuse);
    if (SHELLS.has(programOf(word)) || (index === 0 && word.text.startsWith('$'))) {
      const reads = inspectShell(rest, refuse);
      runsItsInput ||= reads && inCommandPosition && SHELLS.has(programOf(word));
    }
  });
  runsItsInput ||= insertsInputIntoShell(words);
  return { refused, runsItsInput };
}

type Refuse = (words: readonly (Word | undefined)[], why: Refusal) => void;

function programOf(word: Word): string {
  return word.text.slice(word.text.lastIndexOf('/') + 1);
}

/** A hole before the `=`, or in the subscript, of what would be an assignment. */
function isNamedBy(word: Word, hole: string): boolean {
  const head = word.raw.slice(0, Math.max(0, word.raw.search(/\]?\+?=/)));
  return head.includes(hole) && (/^\w+\[/.test(head) || head.replaceAll(hole, '').match(/^\w*$/) !== null);
}

function inspectProgram(program: Word, rest: readonly Word[], refuse: Refuse): void {
  const name = programOf(program);
  if (program.startsWithHole) refuse(rest, refusals.CHOSEN_PROGRAM);
  else if (EVALUATORS.has(name)) refuse(rest, refusals.EVALUATED);
  else if (name === 'for' || name === 'select') refuse(rest.slice(0, 1), refusals.NAME);
  else if (name === '.' || name === 'source') return;
  else if (NAMERS.has(name)) refuse(rest, refusals.NAME);
  else if (ASSIGNERS.has(name)) {
    const evaluates = rest.some((word) => /^-\w*i/.test(word.text));
    refuse(evaluates ? rest : rest.filter((word) => !ASSIGNMENT.test(word.raw)), refusals.NAME);
    refuse(
      rest.filter((word) => EXPANDED_SETTINGS.test(word.raw)),
      refusals.SHELL_SETTING,
    );
  } else if (name === 'printf' || name === 'test' || name === '[') {
    refuse(
      rest.filter((_, index) => rest[index - 1]?.text === '-v'),
      refusals.NAME,
    );
  }
}

/** Refuses the code of `sh -c code`; says whether the shell reads commands from its input. */
function inspectShell(rest: readonly Word[], refuse: Refuse): boolean {
  let takesCode = false;
  let readsInput = false;
  let index = 0;
  for (; index < rest.length; index++) {
    const { text, startsWithHole } = rest[index]!;
    if (startsWithHole || !/^[-+]/.test(text)) break;
    refuse([rest[index]], refusals.SHELL_TEXT);
    if (text === '--' || text === '-') {
      index++;
      return inspectOperands(rest.slice(index), takesCode, readsInput, refuse);
    }
    takesCode ||= /^-[A-Za-z]*c/.test(text) || text === '--command';
    readsInput ||= /^-[A-Za-z]*s/.test(text);
    if (/^[-+][A-Za-z]*[oO]$/.test(text) || /^--(rcfile|init-file)$/.test(text)) index++;
  }
  const operands = rest.slice(index);
  if (!takesCode && operands[0]?.startsWithHole) refuse(operands.slice(1), refusals.SHELL_OPTION);
  return inspectOperands(operands, takesCode, readsInput, refuse);
}

function inspectOperands(operands: readonly Word[], takesCode: boolean, readsInput: boolean, refuse: Refuse): boolean {
  if (takesCode) refuse(operands.slice(0, 1), refusals.SHELL_TEXT);
  // Without its code, `xargs sh -c` takes it from the input.
  return operands.length === 0 || (readsInput && !takesCode);
}

function wordsAfterDashC(rest: readonly Word[]): Word[] {
  return rest.filter((word, index) => {
    const before = rest[index - 1]?.text ?? '';
    return /^-[A-Za-z]*c$|^--command$/.test(before) || word.text.startsWith('--command=');
  });
}

/** Says whether the other machine's shell reads commands from the input. */
function inspectSsh(rest: readonly Word[], refuse: Refuse): boolean {
  const destination = skipSshOptions(rest, 0, refuse);
  const isProtected = rest[destination - 1]?.text === '--';
  if (!isProtected && rest[destination]?.startsWithHole) refuse([rest[destination]], refusals.SSH_OPTION);
  refuse(rest.slice(destination + 1), refusals.REMOTE_COMMAND);
  const command = rest.slice(skipSshOptions(rest, destination + 1, refuse)).map((word) => word.text);
  return command.length === 0 || /^(\S*\/)?(sh|bash|dash|ksh|zsh|ash)(\s+-\w*)*\s*$/.test(command.join(' '));
}

/** The index of the first word that is neither an option nor the argument of one. */
function skipSshOptions(words: readonly Word[], from: number, refuse: Refuse): number {
  let index = from;
  for (; index < words.length; index++) {
    const word = words[index]!;
    if (word.text === '--') return index + 1;
    if (word.startsWithHole || !word.text.startsWith('-')) break;
    const takesNext = SSH_OPTIONS_WITH_ARGUMENT.test(word.text);
    if (/^-\w*o/.test(word.text)) refuse(takesNext ? [word, words[index + 1]] : [word], refusals.SSH_OPTION);
    if (takesNext) index++;
  }
  return index;
}

/** `xargs -I% sh -c "... % ..."` pastes its input into shell text. */
function insertsInputIntoShell(words: readonly Word[]): boolean {
  const at = words.findIndex((word) => programOf(word) === 'xargs');
  if (at < 0) return false;
  const rest = words.slice(at + 1);
  return rest.some((word) => SHELLS.has(programOf(word))) && rest.some((word) => /^(-[Ii]|--replace)/.test(word.text));
}
