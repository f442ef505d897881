import { argumentOf, type Call, NOTHING } from './shell-call.ts';
import { awk, language, sed } from './shell-languages.ts';
import * as refusals from './shell-refusals.ts';
import { client, git, jq, ssh } from './shell-tools.ts';
import type { Word } from './shell-word.ts';

const set = (names: string) => new Set(names.split(' '));

const SHELLS = set('sh bash dash ksh zsh ash mksh yash posh rbash fish csh tcsh pwsh xonsh nu elvish');
const LANGUAGES = set(
  'python pypy perl ruby irb node nodejs deno bun ts-node tsx php lua luajit tclsh wish R Rscript julia guile racket scala groovy jshell java osascript octave gnuplot',
);
const AWKS = set('awk gawk mawk nawk');
/**
 * Clients and editors: their input, and what follows the first operand, are commands, some of which start a shell.
 */
const CLIENTS = set('sqlite sqlite3 duckdb psql mysql mariadb mongosh ed ex vi vim nvim emacs gdb dc m4 ftp lftp');
/** Every argument is shell text, or becomes part of one. */
const EVALUATORS = set(
  'eval trap alias watch parallel sem su runuser sg newgrp script expect make gmake tmux screen socat hyperfine nix-shell pdsh pssh ansible compgen complete bind fc jobs',
);
/** Of these, the ones that also take commands from their input. */
const INPUT_EVALUATORS = set('su runuser sg newgrp script parallel sem expect');
const INPUT_RUNNERS = set('at batch crontab login run-parts');

/** The last part of a program's path; undefined if it is not literal, so that it could be any program. */
export function programOf({ text, expands }: Word): string | undefined {
  const [, path = '', name = ''] = /^(.*\/)?([^/]*)$/s.exec(text)!;
  if (path.startsWith('/proc/')) return undefined;
  const isLiteral = expands.length === 0 || (path !== '' && /^[\w.+-]+$/.test(name));
  return isLiteral ? name : undefined;
}

/** How `words[at]` uses the words after it, if it is a program that runs code. */
export function readCall(words: readonly Word[], at: number): Call | undefined {
  const exact = programOf(words[at]!);
  if (exact === undefined) return undefined;
  const name = isKnown(exact) ? exact : exact.replace(/-?\d[\d.]*$/, '');
  const rest = words.slice(at + 1);
  if (SHELLS.has(name)) return shell(rest);
  if (LANGUAGES.has(name)) return language(name, rest);
  if (AWKS.has(name)) return awk(rest);
  if (name === 'sed' || name === 'gsed') return sed(rest);
  if (name === 'jq') return jq(rest);
  if (name === 'ssh') return ssh(rest);
  if (name === 'git') return git(rest);
  if (name === '.' || name === 'source') return { ...NOTHING, code: chosen(rest[0]), script: rest[0] };
  if (CLIENTS.has(name)) return client(rest);
  if (INPUT_RUNNERS.has(name)) {
    const script =
      argumentOf(rest, /^-f$/) ?? (name === 'crontab' ? rest.find(({ text }) => !text.startsWith('-')) : undefined);
    return { ...NOTHING, code: chosen(script), script, runsInput: script === undefined };
  }
  if (!EVALUATORS.has(name)) return undefined;
  const isLookedInto = name === 'eval' || name === 'trap';
  const isMake = name.endsWith('make');
  // make does not expand the folder in which it works.
  const code = rest.filter((_, index) => !isMake || !/^(-C|--directory)$/.test(rest[index - 1]?.text ?? ''));
  return {
    code: code.map((word) => ({ word, why: refusals.EVALUATED })),
    runsInput: INPUT_EVALUATORS.has(name),
    script: isMake ? argumentOf(rest, /^-f$/) : undefined,
    shellText: isLookedInto ? rest[0]?.text : undefined,
    values: [],
  };
}

/** Names that nearly always mean a program, wherever they are. */
export function isInterpreter(word: Word): boolean {
  const name = programOf(word)?.replace(/-?\d[\d.]*$/, '') ?? '';
  return SHELLS.has(name) || /^(python|perl|ruby|php|eval)$/.test(name);
}

/** A file name that means standard input. */
export function isInput(text: string): boolean {
  return /^(-|\/dev\/(stdin|fd\/\d+)|\/proc\/[^/]+\/fd\/\d+)$/.test(text);
}

/** A value may be the folder of a script, but not its name. */
function chosen(script: Word | undefined): Call['code'] {
  const isFixed = script === undefined || (!script.startsWithHole && programOf(script) !== undefined);
  return isFixed ? [] : [{ word: script, why: refusals.CHOSEN_SCRIPT }];
}

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
