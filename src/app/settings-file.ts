import { lstatSync, readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NightshiftError } from '../core/model/errors.ts';
import { type Addition, mergeSettings, removeSettings } from '../kit/claude-settings.ts';
import { diskError, replaceFile } from '../store/folder/files/atomic-write.ts';

/** A settings file of yours that `init` adds to, before and after. Absent: no file. */
export interface SettingsChange {
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
}

/** Decides what to write, and writes nothing. A file that it can't understand is an error. */
export function planSettings(
  root: string,
  path: string,
  additions: readonly Addition[],
  isRemoving: boolean,
): SettingsChange {
  const file = join(root, path);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) throw refusal(path, 'it is a link');
  const before = found === undefined ? undefined : readFileSync(file, 'utf8');
  const result = isRemoving ? removeSettings(before, additions) : mergeSettings(before, additions);
  if ('problem' in result) throw refusal(path, result.problem, result.line);
  return {
    path,
    ...(before === undefined ? {} : { before }),
    ...(result.text === undefined ? {} : { after: result.text }),
  };
}

function refusal(path: string, why: string, line?: number): NightshiftError {
  return new NightshiftError(
    'bad-folder',
    `${path} was left as it is, and nothing was written: ${why}`,
    'correct the file, then run the same command again',
    { file: path, ...(line === undefined ? {} : { line }) },
  );
}

/** Keeps the mode of the file. */
export async function writeSettings(root: string, { path, after }: SettingsChange): Promise<void> {
  const file = join(root, path);
  if (after === undefined) return await rm(file);
  try {
    await mkdir(dirname(file), { recursive: true });
    const mode = lstatSync(file, { throwIfNoEntry: false })?.mode ?? 0o644;
    await replaceFile(file, Buffer.from(after), mode & 0o777);
  } catch (cause) {
    throw diskError(cause, file);
  }
}
