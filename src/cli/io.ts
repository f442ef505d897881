import { closeSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { World } from '../app/world.ts';
import { systemError } from '../core/model/system-errors.ts';
import { escapeUnsafe } from '../views/printable.ts';

/** What a command has of the world; given to it, so that it asks for nothing else. */
export interface Io extends World {
  /** Somebody sits in front of it. */
  readonly isInteractive: boolean;
  /** A terminal that lines can be redrawn on; not a pipe, not a log, not one that can't. */
  readonly terminal: Terminal | undefined;
  /** A line on standard output. */
  print(line: string): void;
  /** Bytes for the program that reads standard output, as they are; a terminal gets them as `print` does. */
  send(bytes: Uint8Array): void;
  /** What somebody answers on the terminal; undefined if they would not. Only where it is interactive. */
  ask(question: string): Promise<string | undefined>;
  /** A line on standard error: for people, also when standard output is for machines. */
  warn(line: string): void;
}

export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
  /** As it is, with what moves the cursor: whatever comes from cells or agents must have been made safe before. */
  write(text: string): void;
  /** Calls back when the window has another size; disposing of it ends that. */
  onResize(listener: () => void): Disposable;
}

export function processIo(): Io {
  return {
    // Asked when it is needed: it may be gone.
    get cwd() {
      return process.cwd();
    },
    env: process.env,
    isInteractive: process.stdin.isTTY === true && process.stdout.isTTY === true,
    terminal: findTerminal(),
    now: Date.now,
    print: (line) => write(1, line),
    send: (bytes) => (process.stdout.isTTY ? write(1, Buffer.from(bytes).toString().replace(/\n$/, '')) : send(bytes)),
    ask: askTerminal,
    warn: (line) => write(2, line),
  };
}

/** Ctrl-C and Ctrl-D are answers, too. */
async function askTerminal(question: string): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises');
  process.stdin.ref();
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
  terminal.once('SIGINT', () => terminal.close());
  try {
    return await Promise.race([terminal.question(question), closed]);
  } finally {
    terminal.close();
    // Else an open terminal would keep the program from ending.
    process.stdin.unref();
  }
}

function findTerminal(): Terminal | undefined {
  const { stdout, env } = process;
  const isLog = env.CI !== undefined && env.CI !== '' && env.CI !== 'false';
  if (!stdout.isTTY || isLog || env.TERM === undefined || env.TERM === 'dumb') return undefined;
  return {
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
    colour: env.NO_COLOR === undefined || env.NO_COLOR === '',
    write: (text) => writeCalmly(1, text),
    onResize: (listener) => {
      stdout.on('resize', listener);
      return { [Symbol.dispose]: () => stdout.off('resize', listener) };
    },
  };
}

function write(fd: number, line: string): void {
  // The last gate: whatever a cell, an agent or a file name holds, no control character of theirs gets to a terminal.
  writeCalmly(fd, `${escapeUnsafe(line)}\n`);
}

/** All of it at once; a reader that has gone (`| head`, a closed terminal) does not end a night's work. */
function writeCalmly(fd: number, text: string): void {
  try {
    writeAll(fd, Buffer.from(text));
  } catch {}
}

/** What was asked for must be whole; only a reader that wants no more of it is no error. */
function send(bytes: Uint8Array): void {
  try {
    writeAll(1, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw systemError(error, 'standard output') ?? error;
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(fd, bytes, offset);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      // A full pipe that does not block: wait a moment for its reader.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

const TERMINALS_AT_START = [0, 1, 2].filter((fd) => isatty(fd));

/**
 * For the very end: Node restores the terminal that it began with, and aborts if that is gone (nodejs/node#51519, in 20 and 22).
 * What it does not find any more it leaves alone. A terminal that was hung up is a device that is no terminal any more.
 */
export function letGoOfLostTerminal(): void {
  for (const fd of TERMINALS_AT_START) if (!isatty(fd)) closeSync(fd);
}
