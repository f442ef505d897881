import { resolve } from 'node:path';
import { escapeUnsafe } from '../src/core/text/printable.ts';

type Program = typeof import('../src/cli/run-program.ts');

/** Commands that start no agent and wait for nobody. Others need a process of their own. */
const COMMANDS = new Set([
  ...['add-task', 'archive', 'completion', 'create', 'export', 'init', 'lesson', 'list', 'preview', 'show', 'status'],
  ...['steps', 'table'],
]);

export const runsInProcess = (args: readonly string[]): boolean => COMMANDS.has(args[0] ?? '');

/** Runs a command of the built program in this process: a new one takes 0.2 seconds of a core to start. */
export async function runInProcess(
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { runProgram } = (await import(resolve('dist/cli/run-program.js'))) as Program;
  let stdout = '';
  let stderr = '';
  const io = {
    cwd,
    env: { ...process.env, ...env },
    isInteractive: false,
    terminal: undefined,
    now: Date.now,
    print: (line: string) => {
      stdout += `${escapeUnsafe(line)}\n`;
    },
    send: (bytes: Uint8Array) => {
      stdout += Buffer.from(bytes).toString();
    },
    ask: async () => undefined,
    warn: (line: string) => {
      stderr += `${escapeUnsafe(line)}\n`;
    },
  };
  const code = await runProgram(io, [process.execPath, resolve('dist/cli/main.js'), ...args]);
  return { code, stdout, stderr };
}
