import { closeSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { hardLimit, RLIMIT_NOFILE } from './rlimit.ts';

/** One end for us, the other for a child as one of its first three descriptors. */
export interface PipeEnds<Ours extends Socket | Input = Socket | Input> {
  readonly ours: Ours;
  readonly theirs: number;
}

/** Our end of a child's input. */
export class Input {
  #end: number | Writable | undefined;

  constructor(end: number | Writable) {
    this.#end = end;
  }

  /** For a few bytes only: they fit into any pipe and need no stream. */
  say(text: string): void {
    if (typeof this.#end !== 'number') this.stream().end(text);
    else {
      try {
        writeSync(this.#end, text);
      } catch {
        // The reader has ended.
      }
      this.destroy();
    }
  }

  stream(): Writable {
    const stream =
      typeof this.#end === 'object' ? this.#end : new Socket({ fd: this.#end, readable: false, writable: true });
    this.#end = stream;
    // A program need not read its input: EPIPE.
    stream.on('error', () => {});
    return stream;
  }

  destroy(): void {
    if (typeof this.#end === 'number') closeSync(this.#end);
    else this.#end?.destroy();
    this.#end = undefined;
  }
}

type Pipe2 = (ends: number[], flags: number) => number;
const O_CLOEXEC = 0o2000000;
const KEPT_DESCRIPTORS = 24;

/**
 * Node gives its children socket pairs, and on Linux a socket can't be opened by name: `echo x > /dev/stderr`, `tee
 * /dev/stdout` and `cat /dev/stdin` fail. Programs expect pipes, so we ask the kernel for real ones. Undefined where
 * Node's own must do: on other systems, where those names work, and if the library can't be loaded.
 */
export function openPipes():
  | { stdin: PipeEnds<Input>; stdout: PipeEnds<Socket>; stderr: PipeEnds<Socket> }
  | undefined {
  const pipe2 = loadPipe2();
  if (pipe2 === undefined) return undefined;
  const opened: PipeEnds[] = [];
  try {
    const [theirs, ours] = open(pipe2);
    const stdin = { ours: new Input(ours), theirs };
    opened.push(stdin);
    const stdout = openToRead(pipe2);
    opened.push(stdout);
    const stderr = openToRead(pipe2);
    opened.push(stderr);
    // The system assigns the lowest free number, so this tells how many are in use.
    if (stderr.theirs > mostDescriptors()) throw tooManyOpen();
    return { stdin, stdout, stderr };
  } catch (error) {
    for (const ends of opened) {
      ends.ours.destroy();
      closeSync(ends.theirs);
    }
    throw error;
  }
}

function openToRead(pipe2: Pipe2): PipeEnds<Socket> {
  const [ours, theirs] = open(pipe2);
  return { ours: new Socket({ fd: ours, readable: true, writable: false }), theirs };
}

/** The reading end and the writing end. */
function open(pipe2: Pipe2): [number, number] {
  const ends = [-1, -1];
  // This fails only if no descriptors are left, in this process or on this machine.
  if (pipe2(ends, O_CLOEXEC) !== 0) throw tooManyOpen();
  return ends as [number, number];
}

function tooManyOpen(): Error {
  return Object.assign(new Error('too many open files'), { code: 'EMFILE' });
}

let most: number | undefined;

/**
 * Node raises its limit to the hard limit. Agents must not take the descriptors that the table and the journal need.
 */
function mostDescriptors(): number {
  most ??= Number(hardLimit(process.pid, RLIMIT_NOFILE) ?? Number.POSITIVE_INFINITY) - KEPT_DESCRIPTORS;
  return most;
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
