import { resolve } from 'node:path';
import type { Terminal } from '../src/cli/io.ts';
import { escapeUnsafe } from '../src/core/text/printable.ts';
import { type Ended, Running } from './running.ts';

type Program = typeof import('../src/cli/run-program.ts');

/** The others serve standard input, or are killed. */
export const runsHere = (args: readonly string[], env: Readonly<Record<string, string>> = {}): boolean =>
  args[0] !== 'mcp' && args[0] !== 'hook' && env.NIGHTSHIFT_CRASH_AT === undefined;

interface Surroundings {
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** On a terminal of 60 columns and 20 rows; what is written to it is in `stdout`. */
  onTerminal: boolean;
  /** What a person at the terminal types, one for each question; undefined: there is none. */
  answers: readonly string[] | undefined;
  /** What is piped into it; undefined: nothing. */
  input?: string | undefined;
}

/** A command of the built program, in this process. */
export class RunningHere extends Running {
  readonly ended: Promise<Ended>;

  constructor(args: readonly string[], world: Surroundings) {
    super();
    this.ended = this.#run(args, world);
  }

  async #run(args: readonly string[], { cwd, env, onTerminal, answers, input }: Surroundings): Promise<Ended> {
    const { runProgram } = (await import(resolve('dist/cli/run-program.js'))) as Program;
    const left = [...(answers ?? [])];
    const io = {
      cwd,
      env: { ...process.env, ...env },
      isInteractive: answers !== undefined,
      terminal: onTerminal ? this.#terminal() : undefined,
      now: Date.now,
      print: (line: string) => this.print(`${escapeUnsafe(line)}\n`),
      send: (bytes: Uint8Array) => this.print(Buffer.from(bytes).toString()),
      ask: async (question: string) => {
        this.print(`${question}\n`);
        return left.shift();
      },
      readInput: async () => (input === undefined ? undefined : Buffer.from(input)),
      warn: (line: string) => {
        this.stderr += `${escapeUnsafe(line)}\n`;
      },
    };
    return this.asEnded(await runProgram(io, [process.execPath, resolve('dist/cli/main.js'), ...args]), null);
  }
  #terminal(): Terminal {
    return {
      ...{ columns: 60, rows: 20, colour: true },
      write: (text) => this.print(text),
      onResize: () => ({ [Symbol.dispose]: () => {} }),
    };
  }
}
