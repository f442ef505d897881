import { argumentOf, type Call, NOTHING } from './shell-call.ts';
import type { Refusal } from './shell-refusals.ts';
import * as refusals from './shell-refusals.ts';
import type { Word } from './shell-word.ts';

const SSH_OPTIONS_WITH_ARGUMENT = /^-[A-Za-z0-9]*[BbcDEeFIiJLlmOopPQRSWw]$/;

export function ssh(rest: readonly Word[]): Call {
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
  const leading = destination && rest[at - 1]?.text !== '--' ? [destination] : [];
  const remote = rest.slice(at + 1);
  code.push(...remote.map((word) => ({ word, why: refusals.REMOTE_COMMAND })));
  const command = rest.slice(skipOptions(at + 1)).map(({ text }) => text);
  const isShell = /(^|[\s/;&|])(sh|bash|dash|ksh|zsh|ash|python3?|perl|ruby|node)(\s+-\w*)*\s*$/.test(
    command.join(' '),
  );
  return { code, runsInput: command.length === 0 || isShell, shellText: command.join(' '), values: [], leading };
}

const GIT_OPTION_WITH_ARGUMENT = /^(-[cC]|--(git-dir|work-tree|namespace|config-env|exec-path))$/;
const GIT_CODE_OPTION = /^(-c|--(config-env|exec-path|git-dir))/;
/** The author is data; git runs most other settings, or what they name. */
const IDENTITY = /^(user|author|committer)\.(name|email)(=|$)/;
const GIT_BEHIND = /^(-[xO]|--(template|httpd|browser|smtp-server|tool))/;

export function git(rest: readonly Word[]): Call {
  const code: Word[] = [];
  let at = 0;
  for (; rest[at]?.text.startsWith('-'); at++) {
    const given = GIT_OPTION_WITH_ARGUMENT.test(rest[at]!.text) ? [rest[at]!, rest[++at]] : [rest[at]!];
    const isIdentity = IDENTITY.test(given[1]?.text ?? '');
    if (GIT_CODE_OPTION.test(given[0]!.text) && !isIdentity) code.push(...given.filter((word) => word !== undefined));
  }
  const [subcommand, ...behind] = rest.slice(at);
  if (subcommand) code.push(...[subcommand].filter(({ text, expands }) => expands.length > 0 || text.startsWith('-')));
  if (subcommand?.text === 'config') {
    const operands = behind.filter(({ text }) => !text.startsWith('-'));
    if (!IDENTITY.test(operands[0]?.text ?? '')) code.push(...operands);
  }
  const runs = behind.findIndex(({ text }) => /^(foreach|run)$/.test(text));
  const isCode = (word: Word, index: number) =>
    GIT_BEHIND.test(word.text) || GIT_BEHIND.test(behind[index - 1]?.text ?? '') || (runs >= 0 && index > runs);
  const isFiltered = subcommand?.text === 'filter-branch';
  code.push(...behind.filter((word, index) => isFiltered || isCode(word, index)));
  return { ...NOTHING, code: code.map((word) => ({ word, why: refusals.GIT })) };
}

/** The program of jq is its first operand; its options name values and files. */
export function jq(rest: readonly Word[]): Call {
  const code: Word[] = [];
  let script: Word | undefined;
  for (let at = 0; at < rest.length; at++) {
    const { text } = rest[at]!;
    if (/^--(arg|argjson|slurpfile|rawfile)$/.test(text)) at += 2;
    else if (/^(-[A-Za-z]*f|--from-file)$/.test(text)) script = rest[++at];
    else if (/^(-L|--indent)$/.test(text)) code.push(...rest.slice(++at, at + 1));
    else if (!text.startsWith('-')) {
      if (!script) code.push(rest[at]!);
      break;
    }
  }
  const chosen = script ? [script] : [];
  return { ...NOTHING, code: [...code, ...chosen].map((word) => ({ word, why: refusals.JQ })), script };
}

const VALUE_OPTION = /^(-[vdhUpPuD]|--(set|variable|dbname|host|user|username|port|database))$/;

export function client(rest: readonly Word[]): Call {
  const isArgument = (index: number) => VALUE_OPTION.test(rest[index - 1]?.text ?? '');
  const operands = rest.filter(({ text }, index) => !text.startsWith('-') && !isArgument(index));
  const isDatabase = (index: number) => rest[index] === operands[0] && !rest[index - 1]?.text.startsWith('-');
  const isCode = (word: Word, index: number) =>
    isArgument(index) ? word.startsWithHole && /^-v|--(set|variable)/.test(rest[index - 1]!.text) : !isDatabase(index);
  const code = rest.filter(isCode);
  const isGiven = operands.length > 1 || rest.some(({ text }) => /^(-[cef]|--(command|execute|file))(=|$)/.test(text));
  const script = argumentOf(rest, /^(-f|--file)$/);
  return {
    ...NOTHING,
    code: code.map((word) => ({ word, why: refusals.CLIENT })),
    script,
    runsInput: !isGiven,
    leading: operands.slice(0, 1),
  };
}
