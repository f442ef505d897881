import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { Input, openPipes } from './pipes.ts';
import { type Exit, type Launch, loadPosixSpawn, type SpawnedProcess } from './posix-spawn.ts';

/** The shell of the system, as for system(3): the PATH of an agent does not decide which shell this is. */
export const SHELL = '/bin/sh';

/**
 * The gate: a program begins only when the guard knows its group. If nightshift dies before, the gate reads the end
 * of its input and exits. It reads one line and not a byte more, so the rest of standard input is the program's.
 */
const GATE = 'read -r _ || exit 1; ';
const NO_INPUT = 'exec </dev/null; ';

export interface RunningProgram {
  /** The id of the process group, which is that of its leader. */
  readonly group: number;
  readonly stdin: Input;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exit: Promise<Exit>;
}

type Program = Omit<Launch, 'stdio'>;

/**
 * The program behind the gate. A shell waits on the first line of its script, so that its lines keep their numbers.
 */
export function gated({ file, args, cwd, env, input }: Program & { readonly input?: unknown }): Program {
  const gate = input === undefined ? GATE + NO_INPUT : GATE;
  const script = args.indexOf('-c') + 1;
  const behind =
    file === SHELL && script > 0
      ? args.map((arg, i) => (i === script ? gate + arg : arg))
      : ['-c', `${gate}exec "$@"`, 'sh', file, ...args];
  return { file: SHELL, args: behind, cwd, env };
}

/** Throws the system's error if the process can't be started. */
export async function start(program: Program): Promise<RunningProgram> {
  const pipes = openPipes();
  if (pipes === undefined) return startByNode(program);
  const { stdin, stdout, stderr } = pipes;
  try {
    const launch = loadPosixSpawn() ?? launchByNode;
    const { pid, exit } = await launch({ ...program, stdio: [stdin.theirs, stdout.theirs, stderr.theirs] });
    return { group: pid, stdin: stdin.ours, stdout: stdout.ours, stderr: stderr.ours, exit };
  } catch (error) {
    for (const ends of [stdin, stdout, stderr]) ends.ours.destroy();
    throw error;
  } finally {
    for (const ends of [stdin, stdout, stderr]) closeSync(ends.theirs);
  }
}

async function startByNode({ file, args, ...options }: Program): Promise<RunningProgram> {
  const child = spawn(file, args, { ...options, detached: true });
  const { pid, exit } = await followed(child);
  return { group: pid, stdin: new Input(child.stdin), stdout: child.stdout, stderr: child.stderr, exit };
}

function launchByNode({ file, args, stdio, ...options }: Launch): Promise<SpawnedProcess> {
  return followed(spawn(file, args, { ...options, stdio: [...stdio], detached: true }));
}

async function followed(child: ReturnType<typeof spawn>): Promise<SpawnedProcess> {
  const { pid } = child;
  if (pid === undefined) throw await new Promise((resolve) => child.once('error', resolve));
  const exit = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve(signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'signalled', signal }),
    );
  });
  return { pid, exit };
}
