import { NightshiftError } from '../core/model/errors.ts';
import { LIMIT_KEYS, type LimitKey, type LimitSettings, readLimits } from '../core/schedule/budget.ts';
import type { Options } from './program.ts';

/** Rule X6: flags win over the keys of the same name in `manager.md`. */
export function readLimitFlags(options: Options): LimitSettings {
  return readLimits(
    (key) => flagOf(options, key),
    (key, problem, hint) =>
      new NightshiftError('usage', `--${key} ${JSON.stringify(flagOf(options, key))} ${problem}`, hint),
  );
}

/** The limits among the options, as they were typed. */
export function limitFlagsIn(options: Options): Options {
  return Object.fromEntries(LIMIT_KEYS.map((key) => [camelCase(key), flagOf(options, key)]));
}

function flagOf(options: Options, key: LimitKey): string | undefined {
  return options[camelCase(key)];
}

/** The name that commander gives an option. */
function camelCase(key: LimitKey): string {
  return key.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
