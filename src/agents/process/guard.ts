import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * A small process that outlives nightshift by a moment. It knows the process groups that nightshift started. When its
 * pipe closes, by an exit or a `kill -9`, it ends what is left of them: gently first, since some programs run their
 * tools in groups of their own, which only they know. Then it ends daemons, found by the tags of the groups, and once
 * more, since they may just have forked: they could edit the shift's files later. It has its own session, so that
 * Ctrl-C does not reach it, and an empty environment, so that no search for leftovers finds it.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM
groups=' '
while read -r change group tag; do
  case $change in
    +) groups="$groups$group:$tag " ;;
    -) case $groups in *" $group:"*)
         rest="\${groups#* $group:}"
         groups="\${groups%% $group:*} \${rest#* }" ;;
       esac ;;
  esac
done
case $groups in *[0-9]*) ;; *) exit ;; esac
for group in $groups; do kill -s TERM -- "-\${group%:*}"; done
sleep 1
for group in $groups; do kill -s KILL -- "-\${group%:*}"; done
set --
for group in $groups; do case $group in *[0-9]) set -- "$@" -e " \${group#*:} " ;; esac; done
for round in 1 2 3; do
  found=$([ $# = 0 ] || grep -lsF "$@" /proc/[0-9]*/limits)
  [ "$found" ] || exit
  for limits in $found; do
    process="\${limits#/proc/}"
    kill -s KILL "\${process%/limits}"
  done
done
`;

/** After three failed starts in a row, no guard is started. */
const TRIES = 3;

/** The tags of groups that have one. */
const groups = new Map<number, bigint | undefined>();
let guard: Writable | undefined;

/** Before anything else starts: if processes are scarce, the guard needs one first. */
export function readyGuard(): void {
  guard ??= startGuard();
}

/**
 * Resolves when the guard is certain to learn of the group, even if nightshift is killed right after: a pipe is read
 * to its end. Rejects if there is no guard; then nothing may run.
 */
export async function guardGroup(group: number, tag: bigint | undefined): Promise<void> {
  groups.set(group, tag);
  for (let tries = 0; tries < TRIES; tries++) {
    guard ??= startGuard();
    if (guard && (await write(guard, entry(group)))) return;
    guard = undefined;
  }
  groups.delete(group);
  throw new Error('the process that watches over agents could not be started');
}

/** Only for a group without processes: its number may be given to other processes. */
export function releaseGroup(group: number): void {
  groups.delete(group);
  guard?.write(`- ${group}\n`);
}

function entry(group: number): string {
  return `+ ${group} ${groups.get(group) ?? 'none'}\n`;
}

/** Undefined if the system has no descriptors or processes left. */
function startGuard(): Writable | undefined {
  const child = trySpawn();
  child?.on('error', () => {});
  const pipe = child?.stdin;
  if (!child || !pipe) return undefined;
  pipe.on('error', () => {});
  // It was killed: the running groups need a new one.
  child.on('exit', () => {
    if (guard !== pipe) return;
    guard = groups.size > 0 ? startGuard() : undefined;
  });
  // It must not keep nightshift from ending.
  child.unref();
  (pipe as Writable & { unref?(): void }).unref?.();
  for (const group of groups.keys()) pipe.write(entry(group));
  return pipe;
}

/** Node throws some system errors, and reports others later. */
function trySpawn(): ChildProcess | undefined {
  const stdio: StdioOptions = ['pipe', 'ignore', 'ignore'];
  try {
    return spawn('/bin/sh', ['-c', SCRIPT], { cwd: '/', env: {}, detached: true, stdio });
  } catch {
    return undefined;
  }
}

function write(pipe: Writable, line: string): Promise<boolean> {
  return new Promise((resolve) => pipe.write(line, (error) => resolve(error == null)));
}
