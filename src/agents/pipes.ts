import { closeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';

/** One end for us, the other to be given to a child as one of its first three descriptors. */
export interface PipeEnds {
  readonly ours: Socket;
  readonly theirs: number;
}

type Pipe2 = (ends: number[], flags: number) => number;
const O_CLOEXEC = 0o2000000;

/**
 * Node gives its children socket pairs, and on Linux a socket can't be opened by its name: `echo x > /dev/stderr`,
 * `tee /dev/stdout` and `cat /dev/stdin` fail in them. Programs expect pipes, so we ask the kernel for real ones.
 * Undefined where Node's own must do: other systems, where those names work, and where the library can't be loaded.
 */
export function openPipes(): { stdin: PipeEnds; stdout: PipeEnds; stderr: PipeEnds } | undefined {
  const pipe2 = loadPipe2();
  if (pipe2 === undefined) return undefined;
  const opened: PipeEnds[] = [];
  try {
    const stdin = open(pipe2, 'write');
    opened.push(stdin);
    const stdout = open(pipe2, 'read');
    opened.push(stdout);
    return { stdin, stdout, stderr: open(pipe2, 'read') };
  } catch (error) {
    for (const ends of opened) {
      ends.ours.destroy();
      closeSync(ends.theirs);
    }
    throw error;
  }
}

function open(pipe2: Pipe2, we: 'read' | 'write'): PipeEnds {
  const ends = [-1, -1];
  // The only way in which this fails: no descriptors left, in this process or on this machine.
  if (pipe2(ends, O_CLOEXEC) !== 0) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  const [readEnd, writeEnd] = ends as [number, number];
  return we === 'read'
    ? { ours: new Socket({ fd: readEnd, readable: true, writable: false }), theirs: writeEnd }
    : { ours: new Socket({ fd: writeEnd, readable: false, writable: true }), theirs: readEnd };
}

let loaded: { pipe2: Pipe2 | undefined } | undefined;

function loadPipe2(): Pipe2 | undefined {
  loaded ??= { pipe2: process.platform === 'linux' ? tryLoad() : undefined };
  return loaded.pipe2;
}

function tryLoad(): Pipe2 | undefined {
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    return koffi.load(null).func('int pipe2(_Out_ int *ends, int flags)') as unknown as Pipe2;
  } catch {
    return undefined;
  }
}
