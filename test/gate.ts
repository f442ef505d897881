import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { Project } from './harness.ts';

/** More than any test has agents. */
const MANY = '\n'.repeat(1000);

/** What a test holds back agents with. They block in a read, which costs nothing, and go on at once. */
export class Gate {
  readonly #fd: number;
  /** For the shell: returns when the gate is open. */
  readonly wait: string;

  constructor({ root }: Project) {
    // Beside the project: nothing that looks through its files meets a FIFO.
    const fifo = `${root}.gate-${Math.random().toString(36).slice(2)}`;
    execFileSync('mkfifo', [fifo]);
    // For both, so that a reader waits for a line and not for a writer.
    this.#fd = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    this.wait = `read -r _ < ${fifo}`;
    onTestFinished(() => {
      closeSync(this.#fd);
      rmSync(fifo);
    });
  }

  /** For all who wait, and all who come. */
  open(): void {
    writeSync(this.#fd, MANY);
  }
}
