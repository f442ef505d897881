import { NightshiftError } from '../core/model/errors.ts';
import type { Setting } from '../core/model/model.ts';
import { withoutLogin } from '../core/workspace/login.ts';

/** A setting, and the file it is in. */
export interface PlacedSetting {
  readonly setting: Setting;
  readonly file: string;
}

/** Finds a setting of a task by its key. */
export type LookUp = (key: string) => PlacedSetting | undefined;

/** The settings of one file. */
export interface Configured {
  readonly file: string;
  readonly settings: readonly Setting[];
}

/** The first file that has the key wins: a task's Configuration over the Shift Configuration (rule X1). */
export function lookUpIn(...files: readonly Configured[]): LookUp {
  return (key) => {
    for (const { file, settings } of files) {
      const setting = settings.find((each) => each.key === key);
      if (setting) return { setting, file };
    }
    return undefined;
  };
}

/** The error for a setting that can't be used. `problem` follows the setting in the sentence. */
export function badSetting({ setting, file }: PlacedSetting, problem: string, hint: string): NightshiftError {
  const { key, value, line } = setting;
  const message = `\`${value === '' ? key : `${key}: ${withoutLogin(value)}`}\` ${problem}`;
  return new NightshiftError('bad-task', message, hint, { file, line });
}

/** The entries of a value like `a, b`. */
export function listOf(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Whether a path or glob leads out of the folder that it is relative to. */
export function leadsOut(path: string): boolean {
  return path.startsWith('/') || path.split('/').includes('..');
}
