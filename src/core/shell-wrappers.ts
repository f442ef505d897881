import { isInterpreter } from './shell-programs.ts';
import type { Word } from './shell-word.ts';

/** Run nothing that they are given. The shell's own `[`, `printf` and names are looked at apart. */
export const HARMLESS = new Set(
  `: [ test true false echo printf cat cp mv rm mkdir rmdir touch ls cd wc sort head tail cut tr tee diff cmp grep egrep
   fgrep rg curl jq yq basename dirname realpath readlink stat chmod chown ln date sleep uniq seq pwd comm paste join
   column base64 od xxd hexdump df du kill id file gzip gunzip zcat bzip2 xz zip unzip sha1sum sha256sum md5sum cksum
   shasum iconv nl fold fmt rev tac split shuf mktemp expr bc which type hash exit return shift set wait umask
   apt apt-get brew dnf yum apk pip pip3 gh open install dd truncate sync convert magick ffmpeg pandoc xmllint
   for select case read getopts mapfile readarray unset let declare typeset export readonly local`.split(/\s+/),
);
/** Start the program that is among their words; the number of operands before it. */
export const WRAPPERS = new Map([
  ...'command builtin exec time nohup setsid env nice ionice sudo doas stdbuf xargs find unbuffer chronic caffeinate fakeroot strace ltrace unshare nsenter busybox toybox'
    .split(' ')
    .map((name) => [name, 0] as const),
  ...'timeout chroot flock taskset chrt'.split(' ').map((name) => [name, 1] as const),
]);
/** Behind a program that is not known: an interpreter, unless it looks like the argument of an option (`--lang python x`). */
export function isWrapped(words: readonly Word[], at: number): boolean {
  const before = words[at - 1]!.text;
  const isArgument = at > 1 && /^-(?!-$)/.test(before) && !/^--(exec|command|run)$/.test(before);
  const next = words[at + 1]?.text ?? '-';
  return isInterpreter(words[at]!) && (!isArgument || next.startsWith('-'));
}

/** `docker run --entrypoint sh image ...`. */
export function isEntry(word: Word, before: Word | undefined): boolean {
  const isSeparate = /^--(entrypoint|shell)$/.test(before?.text ?? '') && isInterpreter(word);
  return isSeparate || /^--entrypoint=/.test(word.text);
}

/** Without a program of their own they start a shell. */
export function startsShell(name: string, words: readonly Word[], operands: number): boolean {
  if (/^(chroot|unshare|nsenter)$/.test(name))
    return words.slice(1 + operands).every(({ text }) => text.startsWith('-'));
  const options = words.slice(1, words.findIndex(({ text }, at) => at > 0 && !text.startsWith('-')) + 1 || undefined);
  return (
    /^(sudo|doas)$/.test(name) && options.some(({ text }) => /^(-[A-Za-z]*[si][A-Za-z]*|--shell|--login)$/.test(text))
  );
}
