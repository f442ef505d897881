import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { LaunchContext } from './agent.ts';
import { type ProcessResult, runProcess, SHELL } from './process/process.ts';

/** The path of a program; undefined if there is none. */
export async function findProgram(name: string, { folder, environment }: LaunchContext): Promise<string | undefined> {
  const places = name.includes('/')
    ? [isAbsolute(name) ? name : resolve(folder ?? '/', name)]
    : (environment.PATH ?? '').split(delimiter).map((each) => join(each, name));
  for (const path of places) if (await isExecutable(path)) return path;
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

const ANSWER_BYTES = 1024 * 1024;
/** They answer within a second, on a busy machine within a few. */
const ANSWER_MS = 30_000;

/** Asks a program something that needs no model, such as its version. */
export function askProgram(
  file: string,
  args: readonly string[],
  { folder, environment }: LaunchContext,
  signal: AbortSignal = AbortSignal.timeout(ANSWER_MS),
): Promise<ProcessResult> {
  return runProcess({ file, args, cwd: folder ?? '/', env: environment, signal, keepBytes: ANSWER_BYTES });
}

/** A message if the program of a shell command is missing. */
export async function missingProgram(line: string, context: LaunchContext): Promise<string | undefined> {
  const program = firstWord(line);
  if (program === undefined || (await isThere(program, context))) return undefined;
  const where = program.includes('/') ? `in ${context.folder ?? '/'}` : 'on PATH';
  return `there is no program ${program} ${where}`;
}

/**
 * The program of a command, after assignments. Undefined if only the shell could tell: quotes, expansions, its own
 * PATH. A missing program that is overlooked here still fails at run time; a false alarm would refuse a shift that
 * works.
 */
function firstWord(line: string): string | undefined {
  const words = line.trim().split(/\s+/);
  const plain = /^[\w./+@%:,-]+$/;
  const assignment = /^([A-Za-z_]\w*)=[\w./+@%:,=-]*$/;
  for (const word of words) {
    const name = assignment.exec(word)?.[1];
    if (name === 'PATH') return undefined;
    if (name !== undefined) continue;
    const program = word.replace(/[;&|]+$/, '');
    return plain.test(program) && !program.startsWith('-') ? program : undefined;
  }
  return undefined;
}

async function isThere(program: string, { folder, environment }: LaunchContext): Promise<boolean> {
  if (program.includes('/')) {
    if (isAbsolute(program)) return isExecutable(program);
    return folder === undefined || isExecutable(resolve(folder, program));
  }
  const ended = await runProcess({
    file: SHELL,
    args: ['-c', 'command -v "$1"', 'sh', program],
    cwd: folder ?? '/',
    env: environment,
    signal: new AbortController().signal,
    keepBytes: 1024,
  });
  return ended.kind !== 'exited' || ended.code === 0;
}
