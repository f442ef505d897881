import type { Settings } from '../core/model/model.ts';
import { nearest } from '../core/model/names.ts';
import type { ChangeLimits } from '../core/workspace/change.ts';
import { badSetting, type LookUp, leadsOut, listOf } from './look-up.ts';

/** Keys that limit what a task may change in a workspace. */
export const CHANGE_KEYS = ['allow-paths', 'deny-paths', 'max-files', 'max-lines'] as const;

export function readChangeLimits(lookUp: LookUp): ChangeLimits {
  const maxFiles = positive(lookUp, 'max-files');
  const maxLines = positive(lookUp, 'max-lines');
  return {
    allow: globs(lookUp, 'allow-paths'),
    deny: globs(lookUp, 'deny-paths'),
    ...(maxFiles === undefined ? {} : { maxFiles }),
    ...(maxLines === undefined ? {} : { maxLines }),
  };
}

function globs(lookUp: LookUp, key: string): string[] {
  const found = lookUp(key);
  const list = listOf(found?.setting.value);
  const outside = list.find(leadsOut);
  if (found === undefined || outside === undefined) return list;
  const setting = { ...found.setting, value: outside };
  const hint = 'paths are relative to the top of the workspace, like src/** or *.lock';
  throw badSetting({ ...found, setting }, 'leads out of the workspace', hint);
}

/** Undefined: not set. */
export function positive(lookUp: LookUp, key: string): number | undefined {
  const found = lookUp(key);
  if (found === undefined || found.setting.value === '') return undefined;
  const number = /^\d+$/.test(found.setting.value) ? Number(found.setting.value) : 0;
  if (number > 0 && Number.isSafeInteger(number)) return number;
  throw badSetting(found, 'is not a positive number', `write it like \`- ${key}: 20\`, or remove the line`);
}

export function readSandbox(lookUp: LookUp): Settings['sandbox'] {
  const word = oneOf(lookUp, 'sandbox', ['true', 'false', 'offline']) ?? 'false';
  return word === 'offline' ? 'offline' : word === 'true' ? 'on' : 'off';
}

/** One of a few words; undefined: not set. */
export function oneOf<T extends string>(lookUp: LookUp, key: string, words: readonly T[]): T | undefined {
  const found = lookUp(key);
  if (found === undefined || found.setting.value === '') return undefined;
  const { value } = found.setting;
  const word = words.find((each) => each === value);
  if (word !== undefined) return word;
  const meant = nearest(value, words);
  const hint = meant === undefined ? `write one of ${words.join(', ')}` : `did you mean \`${key}: ${meant}\`?`;
  throw badSetting(found, `is not one of ${words.join(', ')}`, hint);
}
