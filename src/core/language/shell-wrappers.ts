import { isInterpreter, programOf } from './shell-programs.ts';
import { isAssignment } from './shell-variables.ts';
import type { Word } from './shell-word.ts';

/** Programs that run none of their arguments. `[`, `printf` and names of the shell are checked separately. */
export const HARMLESS = new Set(
  `: [ test true false echo printf cat cp mv rm mkdir rmdir touch ls cd wc sort head tail cut tr tee diff cmp grep egrep
   fgrep rg curl yq basename dirname realpath readlink stat chmod chown ln date sleep uniq seq pwd comm paste join
   column base64 od xxd hexdump df du kill id file gzip gunzip zcat bzip2 xz zip unzip sha1sum sha256sum md5sum cksum
   shasum iconv nl fold fmt rev tac split shuf mktemp expr bc which type hash exit return shift set wait umask
   apt apt-get brew dnf yum apk pip pip3 gh open install dd truncate sync convert magick ffmpeg pandoc xmllint man less
   more mail mailx for select case read getopts mapfile readarray unset let declare typeset export readonly local`.split(
    /\s+/,
  ),
);

/**
 * Programs that start another program among their words: the operands before it, and the options with an argument.
 */
const WRAPPERS = new Map(
  `command builtin nohup unbuffer chronic busybox toybox catchsegv firejail proot torsocks proxychains proxychains4
   dbus-run-session eatmydata tini dumb-init rlwrap setpriv fakeroot unshare entr valgrind exec:a setsid time:fo env:uC
   nice:n ionice:cnpu sudo:ugpCrtThUDR doas:uC stdbuf:ioe xargs:nPIJLsEda caffeinate:tw strace:oepsuEPaISbOX
   ltrace:oepsulaFX nsenter:tSG xvfb-run:ensf cpulimit:lp systemd-run:puHME npx:p bunx uvx chroot+1 flock+1:wE
   taskset+1 chrt+1:TPD timeout+1:ks faketime+1 gosu+1 su-exec+1`
    .split(/\s+/)
    .map((entry) => {
      const [, name = '', operands = '0', letters = ''] = /^([^+:]+)(?:\+(\d))?(?::(\w+))?$/.exec(entry)!;
      return [name, { operands: Number(operands), letters }] as const;
    }),
);
const LONG_WITH_ARGUMENT =
  /^--(signal|kill-after|user|group|adjustment|max-args|max-procs|arg-file|delimiter|package)$/;
/** The same after a subcommand. */
const SUBCOMMANDS: readonly [name: RegExp, word: RegExp, operands: number][] = [
  [/^(npm|pnpm|yarn|bundle)$/, /^(exec|x|dlx)$/, 0],
  [/^(uv|pipx|poetry|pipenv|rye|hatch)$/, /^run$/, 0],
  [/^(docker|podman|kubectl)$/, /^exec$/, 1],
  [/^direnv$/, /^exec$/, 1],
  [/^(go|perf)$/, /^(run|record|stat|trace)$/, 0],
];

export function isWrapper(name: string): boolean {
  return WRAPPERS.has(name);
}

/** The index of the program that the first word starts; undefined if it starts none. May be past the end. */
export function wrappedAt(name: string, words: readonly Word[]): number | undefined {
  const wrapper = WRAPPERS.get(name);
  if (wrapper) return programAt(words, 1, wrapper.operands, wrapper.letters);
  for (const [names, word, operands] of SUBCOMMANDS) {
    const at = words[1] && names.test(name) && word.test(words[1].text) ? 2 : undefined;
    if (at !== undefined) return programAt(words, at, operands, 'eucnp');
  }
  return undefined;
}

/** The first word from `from` on that is not an option, an assignment or one of this many operands. */
export function programAt(words: readonly Word[], from: number, operands: number, letters: string): number {
  const takesArgument = letters === '' ? LONG_WITH_ARGUMENT : new RegExp(`^-[A-Za-z0-9]*[${letters}]$`);
  let left = operands;
  let at = from;
  for (; at < words.length; at++) {
    const { text } = words[at]!;
    if (takesArgument.test(text) || LONG_WITH_ARGUMENT.test(text)) at++;
    else if (!text.startsWith('-') && !isAssignment(words[at]!) && left-- <= 0) break;
  }
  return at;
}

/** After an unknown program: an interpreter, unless it looks like the argument of an option (`--lang python x`). */
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

/** Without a program, these start a shell. */
export function startsShell([first, ...rest]: readonly Word[]): boolean {
  const name = programOf(first!) ?? '';
  return (
    /^(chroot|unshare|nsenter)$/.test(name) ||
    (/^(sudo|doas)$/.test(name) && rest.some(({ text }) => /^(-[A-Za-z]*[si][A-Za-z]*|--shell|--login)$/.test(text)))
  );
}
