import { closeSync, writeSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import type { World } from '../app/world.ts';
import { systemError } from '../core/model/system-errors.ts';
import { escapeUnsafe } from '../core/text/printable.ts';

/** The environment of a command, as an argument. */
export interface Io extends World {
  /** Standard input and output are a terminal. */
  readonly isInteractive: boolean;
  /** A terminal that can redraw lines; undefined for pipes, logs and dumb terminals. */
  readonly terminal: Terminal | undefined;
  /** Writes a line to standard output. */
  print(line: string): void;
  /** Writes bytes to standard output as they are; to a terminal, as `print` does. */
  send(bytes: Uint8Array): void;
  /** Asks a question on the terminal; undefined if there was no answer. Only if `isInteractive`. */
  ask(question: string): Promise<string | undefined>;
  /** All of standard input. Undefined: it is a terminal, so nothing is piped into it. */
  readInput(): Promise<Buffer | undefined>;
  /** Writes a line to standard error: for people, even when standard output is JSON. */
  warn(line: string): void;
}

export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
  /** Writes text with its cursor movements: text of cells and agents must already be escaped. */
  write(text: string): void;
  /** Calls back when the window changes its size, until it is disposed. */
  onResize(listener: () => void): Disposable;
}

export function processIo(): Io {
  return {
    // Read when it is needed: the folder may be gone.
    get cwd() {
      return process.cwd();
    },
    env: process.env,
    isInteractive: process.stdin.isTTY === true && process.stdout.isTTY === true,
    terminal: findTerminal(process.stdout, process.env),
    now: Date.now,
    print: (line) => write(1, line),
    send: (bytes) => (process.stdout.isTTY ? write(1, Buffer.from(bytes).toString().replace(/\n$/, '')) : send(bytes)),
    ask: askTerminal,
    readInput: async () => (process.stdin.isTTY ? undefined : await buffer(process.stdin)),
    warn: (line) => write(2, line),
  };
}

/** Ctrl-C and Ctrl-D mean that there is no answer. */
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
    // Otherwise the open terminal would keep the program alive.
    process.stdin.unref();
  }
}

/** Undefined if the output goes elsewhere, or to a terminal that can't redraw lines. */
export function findTerminal(
  stdout: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'> & Pick<NodeJS.EventEmitter, 'on' | 'off'>,
  env: Readonly<Record<string, string | undefined>>,
): Terminal | undefined {
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
  // The last gate: no control character of a cell, an agent or a file name reaches a terminal.
  writeCalmly(fd, `${escapeUnsafe(line)}\n`);
}

/** Ignores a reader that is gone (`| head`, a closed terminal): the run must not end because of it. */
function writeCalmly(fd: number, text: string): void {
  try {
    writeAll(fd, Buffer.from(text));
  } catch {}
}

/** Throws if not everything could be written, unless the reader closed the pipe. */
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
      // The pipe is full and does not block: wait a moment for its reader.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

const TERMINALS_AT_START = [0, 1, 2].filter((fd) => isatty(fd));

/**
 * For the very end: Node 20 and 22 restore the terminal that they began with, and abort if it is gone
 * (nodejs/node#51519). They leave closed descriptors alone. A terminal that was hung up is no terminal any more.
 */
export function letGoOfLostTerminal(): void {
  for (const fd of TERMINALS_AT_START) if (!isatty(fd)) closeSync(fd);
}
