import { argumentOf, type Call, NOTHING } from './shell-call.ts';
import type { Refusal } from './shell-refusals.ts';
import * as refusals from './shell-refusals.ts';
import type { Word } from './shell-word.ts';

const LONG_CODE_OPTION = /^--?(eval|print|command|execute|expression)$/;
const OPTION_WITH_ARGUMENT = /^-[WXQIMCdx]$|^--(require|import|loader|conditions|env-file)$/;

export function language(name: string, rest: readonly Word[]): Call {
  const isPython = /^(python|pypy)$/.test(name);
  const option = isPython ? /^-[A-Za-z]*c$/ : name === 'php' ? /^-[rBRE]$/ : /^-[A-Za-z0-9.]*[ceEp]$/;
  const code: { word: Word; why: Refusal }[] = [];
  const take = (at: number) => {
    if (rest[at]) code.push({ word: rest[at], why: refusals.CODE });
  };
  let hasCode = false;
  const isTest = name === 'node' && rest.some(({ text }) => text === '--test');
  for (let at = 0; at < rest.length; at++) {
    const { text } = rest[at]!;
    const values = rest.slice(at + 1);
    if (text === '--' && hasCode) return { code: [...code, ...openedByName(name, rest)], runsInput: false, values };
    if (text === '-') return { code, runsInput: !hasCode, values };
    if (!text.startsWith('-') && !/^(run|eval)$/.test(text)) {
      if (isTest) return { code, runsInput: false, values: rest.slice(at), leading: rest.slice(at) };
      if (!hasCode)
        return { code: [...code, { word: rest[at]!, why: refusals.CODE }], script: rest[at], runsInput: false, values };
      const leading = rest.slice(at).filter((_, index, all) => !all.slice(0, index).some(({ text }) => text === '--'));
      return { code: [...code, ...openedByName(name, rest)], runsInput: false, values: rest.slice(at), leading };
    }
    take(at);
    if (OPTION_WITH_ARGUMENT.test(text)) take(++at);
    else if ((option.test(text) || LONG_CODE_OPTION.test(text)) && !(rest[at + 1]?.text ?? '-').startsWith('-')) {
      take(++at);
      hasCode = true;
      // The others look for more options after their code.
      if (isPython) return { code, runsInput: false, values: rest.slice(at + 1) };
    }
  }
  return { code, runsInput: !hasCode, values: [] };
}

/** perl runs a file whose name begins or ends with `|`, if it opens its arguments itself. */
function openedByName(name: string, rest: readonly Word[]): Call['code'] {
  const opens = name === 'perl' && rest.some(({ text }) => /^-[A-Za-z0-9.]*[np]|<>|<ARGV>/.test(text));
  const isOpen = ({ raw, startsWithHole, expands }: Word) =>
    expands.length > 0 && (startsWithHole || /^"?\$|[\uFFFC})]"?$|\$\w+"?$/.test(raw));
  return opens ? rest.filter(isOpen).map((word) => ({ word, why: refusals.PERL_FILE })) : [];
}

export function awk(rest: readonly Word[]): Call {
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
  const runsInput = !script && startsCommands(rest[at]?.text ?? '');
  return { code: code.map((word) => ({ word, why: refusals.AWK })), script, runsInput, values: [] };
}

/** Whether an awk program runs a command that is not a fixed text, with `system` or a pipe. */
function startsCommands(program: string): boolean {
  const code = program
    .replace(/"(?:\\.|[^"\\])*"/g, '""')
    .replace(/(^|[^\w)"\s])\s*\/(?:\\.|[^/\\\n])+\//g, '$1')
    .replace(/system\s*\(\s*""\s*\)|""\s*\|&?\s*getline|(?<!\|)\|&?\s*""(?=\s*(?:[;}\n]|$))|\|\|/g, '');
  return /\bsystem\s*\(|\|/.test(code);
}

/** The command of GNU sed that runs what was read. */
const SED_COMMAND = /(?:^|[;{}\s\d$/!,])e\s*(?:$|[;}\n])/;
/** A substitution and its flags; an escaped separator is part of the text. */
const SED_SUBSTITUTION = /s([^\w\s\\])(?:\\[\s\S]|(?!\1)[^\\])*\1(?:\\[\s\S]|(?!\1)[^\\])*\1([A-Za-z0-9]*)/y;

/** Searches every position: in doubt, a script runs what it reads. */
function sedRuns(script: string): boolean {
  if (SED_COMMAND.test(script)) return true;
  for (const { index } of script.matchAll(/(?<![\w\\])s/g)) {
    SED_SUBSTITUTION.lastIndex = index;
    if (SED_SUBSTITUTION.exec(script)?.[2]?.includes('e')) return true;
  }
  return false;
}

/** GNU sed has a command and a flag that run a shell, and accepts options after operands. */
export function sed(rest: readonly Word[]): Call {
  const isOption = /^(-[A-Za-z]*[ef]|--(expression|file))$/;
  const given = rest.filter((_, index) => isOption.test(rest[index - 1]?.text ?? ''));
  const attached = rest.find(({ text }) => /^(-f|--file=)./.test(text));
  const script = attached
    ? { ...attached, text: attached.text.replace(/^(-f|--file=)/, '') }
    : argumentOf(rest, /^(-[A-Za-z]*f|--file)$/);
  const options = rest.filter(({ text }) => text.startsWith('-'));
  const first = given.length > 0 ? [] : rest.filter((word) => !options.includes(word)).slice(0, 1);
  const code = [...given, ...options, ...first];
  const runsInput = [...given, ...first].some(({ text }) => sedRuns(text));
  return { ...NOTHING, code: code.map((word) => ({ word, why: refusals.SED })), script, runsInput };
}
