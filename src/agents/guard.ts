import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * One small process that outlives nightshift by a moment: it knows the process groups that nightshift has started, and
 * when the pipe to it is closed, by an exit or by a `kill -9`, it ends what is left of them: gently first, because
 * there are programs that run their tools in groups of their own, and only they know which. In a session of its own, so
 * that Ctrl-C does not reach it; with an empty environment, so that no sweep for leftovers finds it.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM
groups=' '
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
case $groups in *[0-9]*) ;; *) exit ;; esac
for group in $groups; do kill -s TERM -- "-$group"; done
sleep 1
for group in $groups; do kill -s KILL -- "-$group"; done
`;

/** A guard that can't be started three times in a row won't be started. */
const TRIES = 3;

const groups = new Set<number>();
let guard: Writable | undefined;

/** Before anything is started: where processes are scarce, the guard needs one first. */
export function readyGuard(): void {
  guard ??= startGuard();
}

/**
 * Resolves when the guard is certain to learn of the group, also if nightshift is killed right after: what is written
 * into a pipe is read before its end. Rejects when there can be no guard; then nothing may run.
 */
export async function guardGroup(group: number): Promise<void> {
  groups.add(group);
  for (let tries = 0; tries < TRIES; tries++) {
    guard ??= startGuard();
    if (guard && (await write(guard, `+ ${group}\n`))) return;
    guard = undefined;
  }
  groups.delete(group);
  throw new Error('the process that watches over agents could not be started');
}

/** Only for a group of which nothing is left: its number may be given to somebody else's processes. */
export function releaseGroup(group: number): void {
  groups.delete(group);
  guard?.write(`- ${group}\n`);
}

/** Undefined: the system has no descriptors or processes left. */
function startGuard(): Writable | undefined {
  const child = trySpawn();
  child?.on('error', () => {});
  const pipe = child?.stdin;
  if (!child || !pipe) return undefined;
  pipe.on('error', () => {});
  // Somebody killed it: the groups that run now must not be without.
  child.on('exit', () => {
    if (guard !== pipe) return;
    guard = groups.size > 0 ? startGuard() : undefined;
  });
  // It must not keep nightshift from ending.
  child.unref();
  (pipe as Writable & { unref?(): void }).unref?.();
  for (const group of groups) pipe.write(`+ ${group}\n`);
  return pipe;
}

/** Node throws some refusals of the system, and tells others later. */
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
