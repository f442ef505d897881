import { NightshiftError } from '../model/errors.ts';
import { isLimitValue, type LimitKey, type LimitSettings, readLimits } from './budget.ts';

/** The limits among the flags of a run in the journal. A flag that can no longer be read limits nothing. */
export function readLimitWords(words: readonly string[]): LimitSettings {
  const of = (key: LimitKey) => words.find((word) => word.startsWith(`--${key}=`))?.slice(key.length + 3);
  return readLimits(
    (key) => {
      const text = of(key);
      return text !== undefined && isLimitValue(key, text) ? text : undefined;
    },
    (key) => new NightshiftError('usage', `--${key} can't be read`),
  );
}
