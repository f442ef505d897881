import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { PROGRAM } from '../app/run/detach.ts';
import type { Io } from './io.ts';
import { PAGE_BESIDE_RUN } from './view-commands.ts';

/**
 * Starts the page and ends at once, so that the page is no descendant of the run: what a person starts there is not
 * taken for what an agent does. Its standard input is the descriptor that Node does not close with this shell.
 */
const LAUNCH = '"$@" <&3 3<&- &';

export interface PageListener {
  /** It is served now. */
  page(url: string): void;
  /** A line that it wrote to standard error. */
  note(line: string): void;
}

/**
 * Serves the page in a process of its own while this object lives. The process ends when its standard input does: when
 * this is disposed of, and when this process is killed. In a session of its own, Ctrl-C does not reach it. A run does
 * not fail for lack of a page.
 */
export class PageBeside implements Disposable {
  #pipes: readonly Stream[] = [];
  #isServed = false;

  /** It has told its address. */
  get isServed(): boolean {
    return this.#isServed;
  }

  constructor(io: Io, shift: string, listener: PageListener) {
    const fail = (error: unknown) => listener.note(`there is no page: ${(error as Error).message}`);
    try {
      this.#start(io, shift, listener).once('error', fail);
    } catch (error) {
      fail(error);
    }
  }

  #start(io: Io, shift: string, listener: PageListener): ChildProcess {
    const words = [process.execPath, PROGRAM, PAGE_BESIDE_RUN, shift];
    const child = spawn('/bin/sh', ['-c', LAUNCH, 'sh', ...words], {
      cwd: io.cwd,
      env: io.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const [, stdout, stderr, input] = child.stdio as unknown as [null, Readable, Readable, Writable];
    this.#pipes = [stdout, stderr, input];
    input.on('error', () => {});
    createInterface(stdout).on('line', (line) => {
      this.#isServed = true;
      listener.page(JSON.parse(line).url);
    });
    createInterface(stderr).on('line', (line) => listener.note(line));
    // Nothing waits for it.
    child.unref();
    for (const pipe of this.#pipes) pipe.unref?.();
    return child;
  }

  [Symbol.dispose](): void {
    for (const pipe of this.#pipes) pipe.destroy();
  }
}

/** Those to a child are sockets. */
type Stream = (Readable | Writable) & { unref?(): void };
