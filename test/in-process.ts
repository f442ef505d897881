import { resolve } from 'node:path';
import { escapeUnsafe } from '../src/core/text/printable.ts';
import { type Ended, Running } from './running.ts';

type Program = typeof import('../src/cli/run-program.ts');

const COMMANDS = new Set([
  ...['accept', 'add-task', 'archive', 'batch', 'completion', 'create', 'demo', 'doctor', 'edit', 'export', 'init'],
  ...[
    'lesson',
    'lessons',
    'list',
    'logs',
    'pause',
    'preview',
    'resume',
    'retry',
    'show',
    'start',
    'status',
    'steps',
    'stop',
  ],
  ...['table', 'test-task', 'update-table'],
]);

/** Others start themselves again, talk to a terminal, or are killed. */
export const runsHere = (args: readonly string[], env: Readonly<Record<string, string>> = {}): boolean =>
  COMMANDS.has(args[0] ?? '') && !args.includes('--detach') && env.NIGHTSHIFT_CRASH_AT === undefined;

/** A command of the built program, in this process. */
export class RunningHere extends Running {
  readonly ended: Promise<Ended>;

  constructor(args: readonly string[], world: { cwd: string; env: Readonly<Record<string, string>> }) {
    super();
    this.ended = this.#run(args, world);
  }

  async #run(
    args: readonly string[],
    { cwd, env }: { cwd: string; env: Readonly<Record<string, string>> },
  ): Promise<Ended> {
    const { runProgram } = (await import(resolve('dist/cli/run-program.js'))) as Program;
    const io = {
      cwd,
      env: { ...process.env, ...env },
      isInteractive: false,
      terminal: undefined,
      now: Date.now,
      print: (line: string) => this.print(`${escapeUnsafe(line)}\n`),
      send: (bytes: Uint8Array) => this.print(Buffer.from(bytes).toString()),
      ask: async () => undefined,
      warn: (line: string) => {
        this.stderr += `${escapeUnsafe(line)}\n`;
      },
    };
    return this.asEnded(await runProgram(io, [process.execPath, resolve('dist/cli/main.js'), ...args]), null);
  }
}
