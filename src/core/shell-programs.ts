import type { Refusal } from './shell-refusals.ts';
import * as refusals from './shell-refusals.ts';
import type { Word } from './shell-word.ts';

/** What a program that runs code takes for code. */
export interface Call {
  /** Words that no value may stand in. */
  readonly code: readonly { readonly word: Word; readonly why: Refusal }[];
  /** The file that it runs. */
  readonly script?: Word | undefined;
  /** What comes in on standard input is run. */
  readonly runsInput: boolean;
  /** Of the code: what a POSIX shell reads, so that it can be looked into. */
  readonly shellText?: string | undefined;
  /** What it runs is shell text. */
  readonly isShell?: boolean;
  /** What the code is given. */
  readonly values: readonly Word[];
}

const set = (names: string) => new Set(names.split(' '));

const SHELLS = set('sh bash dash ksh zsh ash mksh yash posh rbash fish csh tcsh pwsh xonsh nu elvish');
const LANGUAGES = set(
  'python pypy perl ruby irb node nodejs deno bun ts-node tsx php lua luajit tclsh wish R Rscript julia guile racket scala groovy jshell osascript octave gnuplot',
);
const AWKS = set('awk gawk mawk nawk');
/** Clients and editors: their input is commands, some of which start a shell, and so is what follows the first operand. */
const CLIENTS = set(
  'sqlite sqlite3 duckdb psql mysql mariadb mongosh ed ex vi vim nvim emacs gdb dc m4 ftp sftp lftp mail mailx',
);
/** Every argument is shell text, or becomes part of one. */
const EVALUATORS = set(
  'eval trap alias watch parallel sem su runuser sg newgrp script expect make gmake tmux screen socat hyperfine nix-shell pdsh pssh ansible',
);
/** Those of them that take commands from their input, too. */
const INPUT_EVALUATORS = set('su runuser sg newgrp script parallel sem expect');
const INPUT_RUNNERS = set('at batch crontab login run-parts');
/** A value that begins with `-` could be one of their options, and some of those run a program. */
const OPTION_RUNNERS = set('scp rsync tar wget');
const GIT_PARSERS = set('clone fetch pull push ls-remote archive grep rebase submodule');

/** The last part of a program's path; undefined if it is not literal, so that it could be any program. */
export function programOf({ text, expands }: Word): string | undefined {
  const [, path = '', name = ''] = /^(.*\/)?([^/]*)$/s.exec(text)!;
  if (path.startsWith('/proc/')) return undefined;
  const isLiteral = expands.length === 0 || (path !== '' && /^[\w.+-]+$/.test(name));
  return isLiteral ? name : undefined;
}

/** What `words[at]` makes of the words behind it, if it is a program that runs code. */
export function readCall(words: readonly Word[], at: number): Call | undefined {
  const exact = programOf(words[at]!);
  if (exact === undefined) return undefined;
  const name = isKnown(exact) ? exact : exact.replace(/-?\d[\d.]*$/, '');
  const rest = words.slice(at + 1);
  if (SHELLS.has(name)) return shell(rest);
  if (LANGUAGES.has(name)) return language(name, rest);
  if (AWKS.has(name)) return awk(rest);
  if (name === 'sed' || name === 'gsed') return sed(rest);
  if (name === 'ssh') return ssh(rest);
  if (name === 'git') return git(rest);
  if (name === '.' || name === 'source') return { ...NOTHING, code: chosen(rest[0]), script: rest[0] };
  if (CLIENTS.has(name)) return client(rest);
  if (OPTION_RUNNERS.has(name)) {
    // What follows `xzf` or `-O` is its argument.
    const code = leading(rest).filter(
      ({ word }) => !/^-?[A-Za-z]*f$|^-[COPi]$/.test(rest[rest.indexOf(word) - 1]?.text ?? ''),
    );
    return { ...NOTHING, code };
  }
  if (INPUT_RUNNERS.has(name)) {
    const script =
      argumentOf(rest, /^-f$/) ?? (name === 'crontab' ? rest.find(({ text }) => !text.startsWith('-')) : undefined);
    return { ...NOTHING, code: chosen(script), script, runsInput: script === undefined };
  }
  if (!EVALUATORS.has(name)) return undefined;
  const isLookedInto = name === 'eval' || name === 'trap';
  return {
    code: rest.map((word) => ({ word, why: refusals.EVALUATED })),
    runsInput: INPUT_EVALUATORS.has(name),
    script: name.endsWith('make') ? argumentOf(rest, /^-f$/) : undefined,
    shellText: isLookedInto ? rest[0]?.text : undefined,
    values: [],
  };
}

/** Names that are hardly ever anything else than a program, wherever they stand. */
export function isInterpreter(word: Word): boolean {
  const name = programOf(word)?.replace(/-?\d[\d.]*$/, '') ?? '';
  return SHELLS.has(name) || /^(python|perl|ruby|php|eval)$/.test(name);
}

/** A file name that stands for the input. */
export function isInput(text: string): boolean {
  return /^(-|\/dev\/(stdin|fd\/\d+)|\/proc\/[^/]+\/fd\/\d+)$/.test(text);
}

/** A script may be in a folder that the value names, but its own name is fixed. */
function chosen(script: Word | undefined): Call['code'] {
  const isFixed = script === undefined || (!script.startsWithHole && programOf(script) !== undefined);
  return isFixed ? [] : [{ word: script, why: refusals.CHOSEN_SCRIPT }];
}

function argumentOf(words: readonly Word[], option: RegExp): Word | undefined {
  return words.find((_, index) => option.test(words[index - 1]?.text ?? ''));
}

const NOTHING: Call = { code: [], runsInput: false, values: [] };

function isKnown(name: string): boolean {
  return [SHELLS, LANGUAGES, AWKS, CLIENTS, EVALUATORS, INPUT_RUNNERS].some((names) => names.has(name));
}

function shell(rest: readonly Word[]): Call {
  let takesCode = false;
  let readsInput = false;
  let at = 0;
  for (; at < rest.length && /^[-+]/.test(rest[at]!.text); at++) {
    const { text } = rest[at]!;
    if (text === '--' || text === '-') {
      at++;
      break;
    }
    takesCode ||= /^-[A-Za-z]*c/.test(text) || /^--?command$/i.test(text);
    readsInput ||= /^-[A-Za-z]*s/.test(text);
    if (/^[-+][A-Za-z]*[oO]$/.test(text) || /^--(rcfile|init-file)$/.test(text)) at++;
  }
  const operand = rest[at];
  const isScript = !takesCode && !readsInput;
  const code = rest.slice(0, takesCode ? at + 1 : at).map((word) => ({ word, why: refusals.SHELL_TEXT }));
  return {
    code: isScript ? [...code, ...chosen(operand)] : code,
    script: isScript ? operand : undefined,
    runsInput: operand === undefined || (readsInput && !takesCode),
    isShell: true,
    shellText: takesCode ? operand?.text : undefined,
    values: rest.slice(readsInput && !takesCode ? at : at + 1),
  };
}

const LONG_CODE_OPTION = /^--?(eval|print|command|execute|expression)$/;
const OPTION_WITH_ARGUMENT = /^-[WXQIMCdx]$|^--(require|import|loader|conditions|env-file)$/;

function language(name: string, rest: readonly Word[]): Call {
  const isPython = /^(python|pypy)$/.test(name);
  const option = isPython ? /^-[A-Za-z]*c$/ : name === 'php' ? /^-[rBRE]$/ : /^-[A-Za-z0-9.]*[ceEp]$/;
  const code: { word: Word; why: Refusal }[] = [];
  const take = (at: number, why = refusals.CODE) => {
    if (rest[at]) code.push({ word: rest[at], why });
  };
  let hasCode = false;
  for (let at = 0; at < rest.length; at++) {
    const { text, startsWithHole } = rest[at]!;
    const values = rest.slice(at + 1);
    if (text === '--' && hasCode) return { code, runsInput: false, values };
    if (text === '-') return { code, runsInput: !hasCode, values };
    if (!text.startsWith('-') && !/^(run|eval)$/.test(text)) {
      if (!hasCode)
        return { code: [...code, { word: rest[at]!, why: refusals.CODE }], script: rest[at], runsInput: false, values };
      if (startsWithHole) take(at, refusals.LEADING_CODE);
      return { code, runsInput: false, values };
    }
    take(at);
    if (OPTION_WITH_ARGUMENT.test(text)) take(++at);
    else if ((option.test(text) || LONG_CODE_OPTION.test(text)) && !(rest[at + 1]?.text ?? '-').startsWith('-')) {
      take(++at);
      hasCode = true;
      // The others look for more options behind their code.
      if (isPython) return { code, runsInput: false, values: rest.slice(at + 1) };
    }
  }
  return { code, runsInput: !hasCode, values: [] };
}

function awk(rest: readonly Word[]): Call {
  let at = 0;
  const code: Word[] = [];
  let script: Word | undefined;
  for (; at < rest.length && rest[at]!.text.startsWith('-'); at++) {
    const { text } = rest[at]!;
    if (text === '--') {
      at++;
      break;
    }
    // The value of a variable or a separator is data.
    if (!/^-[vF]./.test(text)) code.push(rest[at]!);
    if (text === '-v' && rest[at + 1]?.startsWithHole) code.push(rest[at + 1]!);
    if (/^(-[fie]|--(file|source|include))$/.test(text) && rest[at + 1]) code.push(rest[at + 1]!);
    if (/^(-f|--file)$/.test(text)) script = rest[at + 1];
    if (/^(-[vFfie]|--(file|source|include|assign|field-separator))$/.test(text)) at++;
  }
  if (!script && rest[at]) code.push(rest[at]!);
  return { code: code.map((word) => ({ word, why: refusals.AWK })), script, runsInput: false, values: [] };
}

/** GNU sed has a command and a flag that run a shell, and finds options behind operands. */
function sed(rest: readonly Word[]): Call {
  const isOption = /^(-[A-Za-z]*[ef]|--(expression|file))$/;
  const given = rest.filter((_, index) => isOption.test(rest[index - 1]?.text ?? ''));
  const attached = rest.find(({ text }) => /^(-f|--file=)./.test(text));
  const script = attached
    ? { ...attached, text: attached.text.replace(/^(-f|--file=)/, '') }
    : argumentOf(rest, /^(-[A-Za-z]*f|--file)$/);
  const options = rest.filter(({ text }) => text.startsWith('-'));
  const first = given.length > 0 ? [] : rest.filter((word) => !options.includes(word)).slice(0, 1);
  const code = [...given, ...options, ...first];
  const files = leading(rest).filter(({ word }) => !code.includes(word));
  return { ...NOTHING, code: [...code.map((word) => ({ word, why: refusals.SED })), ...files], script };
}

/** Words that a value is the beginning of, with no `--` before them. */
function leading(rest: readonly Word[]): Call['code'] {
  const end = rest.findIndex(({ text }) => text === '--');
  const open = end < 0 ? rest : rest.slice(0, end);
  return open.filter(({ startsWithHole }) => startsWithHole).map((word) => ({ word, why: refusals.LEADING }));
}

const SSH_OPTIONS_WITH_ARGUMENT = /^-[A-Za-z0-9]*[BbcDEeFIiJLlmOopPQRSWw]$/;

function ssh(rest: readonly Word[]): Call {
  const code: { word: Word; why: Refusal }[] = [];
  const skipOptions = (from: number): number => {
    for (let at = from; ; at++) {
      const word = rest[at];
      if (word?.text === '--') return at + 1;
      if (word === undefined || !word.text.startsWith('-')) return at;
      const takesNext = SSH_OPTIONS_WITH_ARGUMENT.test(word.text);
      const runs = /^-\w*[oF]/.test(word.text) ? [word, ...(takesNext ? rest.slice(at + 1, at + 2) : [])] : [];
      code.push(...runs.map((each) => ({ word: each, why: refusals.SSH_OPTION })));
      if (takesNext) at++;
    }
  };
  const at = skipOptions(0);
  const destination = rest[at];
  if (destination?.startsWithHole && rest[at - 1]?.text !== '--') {
    code.push({ word: destination, why: refusals.SSH_OPTION });
  }
  const remote = rest.slice(at + 1);
  code.push(...remote.map((word) => ({ word, why: refusals.REMOTE_COMMAND })));
  const command = rest.slice(skipOptions(at + 1)).map(({ text }) => text);
  const isShell = /(^|[\s/;&|])(sh|bash|dash|ksh|zsh|ash|python3?|perl|ruby|node)(\s+-\w*)*\s*$/.test(
    command.join(' '),
  );
  return { code, runsInput: command.length === 0 || isShell, shellText: command.join(' '), values: [] };
}

function git(rest: readonly Word[]): Call {
  const subcommand = rest.findIndex(({ text }, index) => !text.startsWith('-') && rest[index - 1]?.text !== '-c');
  const runs = rest.findIndex(({ text }) =>
    /^(foreach|run|filter-branch)$|^alias\.|^core\.\w*(pager|editor|command|path)$/i.test(text),
  );
  const code = rest.filter((word, index) => {
    const isOption = /^(-c|-x|--exec|--config-env|--upload-pack|--receive-pack)$/.test(rest[index - 1]?.text ?? '');
    const isAttached = /^(-c|-x|-O|--exec=|--config-env=|--upload-pack=|--receive-pack=)./.test(word.text);
    return isOption || isAttached || (runs >= 0 && index > runs);
  });
  const parses = GIT_PARSERS.has(rest[subcommand]?.text ?? '');
  const first = rest[subcommand]?.startsWithHole ? [rest[subcommand]] : [];
  const codes = [...code, ...first].map((word) => ({ word, why: refusals.EVALUATED }));
  // The argument of an option is not an option.
  const operands = leading(rest).filter(({ word }) => !/^-[a-z]$/.test(rest[rest.indexOf(word) - 1]?.text ?? ''));
  return { ...NOTHING, code: parses ? [...codes, ...operands] : codes };
}

const VALUE_OPTION = /^(-[vdhUpPuD]|--(set|variable|dbname|host|user|username|port|database))$/;

function client(rest: readonly Word[]): Call {
  const isArgument = (index: number) => VALUE_OPTION.test(rest[index - 1]?.text ?? '');
  const operands = rest.filter(({ text }, index) => !text.startsWith('-') && !isArgument(index));
  const code = rest.filter((word, index) => {
    return (
      word.startsWithHole || !(isArgument(index) || (word === operands[0] && !rest[index - 1]?.text.startsWith('-')))
    );
  });
  const isGiven = operands.length > 1 || rest.some(({ text }) => /^(-[cef]|--(command|execute|file))(=|$)/.test(text));
  const script = argumentOf(rest, /^(-f|--file)$/);
  return { ...NOTHING, code: code.map((word) => ({ word, why: refusals.CLIENT })), script, runsInput: !isGiven };
}
