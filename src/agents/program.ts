import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Place } from './agent.ts';
import { type Ended, runProcess } from './process.ts';

/** Where a program is that is named as on a command line; undefined if there is none. */
export async function findProgram(name: string, { folder, environment }: Place): Promise<string | undefined> {
  const places = name.includes('/')
    ? [isAbsolute(name) ? name : resolve(folder ?? '/', name)]
    : (environment.PATH ?? '').split(delimiter).map((each) => join(each, name));
  for (const path of places) if (await isExecutable(path)) return path;
  return undefined;
}

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

const ANSWER_BYTES = 1024 * 1024;
/** They answer within a second; on a busy machine within a few. */
const ANSWER_MS = 30_000;

/** A question to a program that needs no model, such as its version. */
export function askProgram(
  file: string,
  args: readonly string[],
  { folder, environment }: Place,
  signal: AbortSignal = AbortSignal.timeout(ANSWER_MS),
): Promise<Ended> {
  return runProcess({ file, args, cwd: folder ?? '/', env: environment, signal, keepBytes: ANSWER_BYTES });
}
