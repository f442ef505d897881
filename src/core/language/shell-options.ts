import { programOf } from './shell-programs.ts';
import type { Word } from './shell-word.ts';

/** Options that run a program, or name a file that says which, in any program. */
const CODE_OPTION =
  /^(?:--(?:exec|command|call|eval|execute|to-command|checkpoint-action|use-compress-program|compress-program|rsh|rsh-command|rsync-path|sh-exec|lua-exec|extcmd|exec-path|upload-pack|receive-pack|open-files-in-pager|pager|preview|script-shell|use-askpass|info-script|new-volume-script|sendmail-cmd|to-cmd|cc-cmd|hostname-bin|unzip-command)|-exec|-toolexec|-TT)(?:=|$)/;
const OWN_CODE_OPTIONS: readonly [names: RegExp, option: RegExp][] = [
  [/^g?tar$/, /^-[IF]|^--(rmt-command)/],
  [/^(rsync|scp|sftp)$/, /^-[eSoDF]/],
  [/^man$/, /^-[PH]|^--html/],
  [/^split$/, /^--filter/],
  [/^rg$/, /^--pre(=|$)/],
  [/^curl$/, /^-[A-Za-z]*K|^--config/],
  [/^wget$/, /^-e|^--config/],
  [/^(nc|ncat|netcat)$/, /^-[ec]/],
  [/^(strace|ltrace)$/, /^-o|^--output/],
  [/^(npm|npx|pnpm|yarn|bunx)$/, /^-c/],
  [/^(less|more)$/, /^\+/],
  [/^hash$/, /^-p/],
  [/^enable$/, /^-f/],
  [/^sftp$/, /^-b/],
];

/** The words that tell such an option what to run. */
export function codeOptions(words: readonly Word[]): Word[] {
  const name = programOf(words[0]!) ?? '';
  if (/^(echo|printf|test|\[)$/.test(name)) return [];
  const own = OWN_CODE_OPTIONS.filter(([names]) => names.test(name)).map(([, option]) => option);
  const isCode = ({ text }: Word) => CODE_OPTION.test(text) || own.some((option) => option.test(text));
  return words.filter((word, at) => at > 0 && (isCode(word) || (at > 1 && isCode(words[at - 1]!))));
}

/**
 * Programs with options that run a program, write a file or decide the result, and their options that take an
 * argument.
 */
const OPTION_READERS = new Map(
  Object.entries({
    git: 'mFbBCceGSLtn',
    ...{ tar: 'fCTX', gtar: 'fCTX', zip: 'bitx', unzip: 'dx', rsync: 'eMTB', scp: 'iPlFJcoSD', sftp: 'iPlFJcoSDb' },
    ...{ curl: 'dHoXuAFTbcmwrxUEezQ', wget: 'OoPUieBTtwQlARD', mail: 'srcba', mailx: 'srcba' },
    ...{ grep: 'efmABCdD', egrep: 'efmABCdD', fgrep: 'efmABCdD', rg: 'efmABCgtTjM', sort: 'kotTS', split: 'abClnt' },
    ...{ npm: 'wCp', npx: 'p', pnpm: 'FCr', yarn: '', bunx: 'p', pip: 'rcit', pip3: 'rcit' },
    ...{
      docker: 'vewptuhmlcf',
      podman: 'vewptuhmlcf',
      kubectl: 'ncflop',
      man: 'CRLMSsErPH',
      less: 'bhjkopPtTxyz',
      more: 'n',
    },
    ...{ cat: '', cp: 't', mv: 't', rm: '', ln: 't', ls: '', tee: '', chmod: '', chown: '', mkdir: 'm', touch: 'drt' },
    ...{ install: 'gmot', perl: '', node: '', sed: '', ssh: '' },
  }),
);
const LONG_WITH_ARGUMENT =
  /^--(message|author|date|file|grep|title|body|data[a-z-]*|header|output|form|url|user|request|regexp|glob|type|branch|origin|name|format|filter|workspace|prefix|package|project|tag|label|cookie|env|volume)$/;

/** The words of a call that would be an option if they begin like one. */
export function optionLike(words: readonly Word[]): readonly Word[] {
  const name = programOf(words[0]!) ?? '';
  const letters = OPTION_READERS.get(name);
  if (name === 'find') return words.filter((_, at) => at > 0 && !/^-/.test(words[at - 1]!.text));
  if (letters === undefined) return [];
  const short = letters === '' ? /^$/ : new RegExp(`^-${/tar$/.test(name) ? '?' : ''}[A-Za-z0-9]*[${letters}]$`);
  const end = words.findIndex(({ text }) => text === '--');
  return words.slice(1, end < 0 ? undefined : end).filter((_, index) => {
    const before = words[index]!.text;
    return index === 0 || !(short.test(before) || LONG_WITH_ARGUMENT.test(before));
  });
}
