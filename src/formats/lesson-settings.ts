import { NightshiftError } from '../core/model/errors.ts';
import type { LessonSettings, Setting } from '../core/model/model.ts';

export const LESSON_KEYS = ['lessons', 'max-lessons', 'max-lessons-size', 'holdout'] as const;
type LessonKey = (typeof LESSON_KEYS)[number];

const MODES = ['eager', 'careful', 'off'] as const;
const DEFAULT_LESSONS = 20;
const DEFAULT_BYTES = 6 * 1024;
const MOST_LESSONS = 100;
const MOST_BYTES = 64 * 1024;
/** More than this would cost more than it tells. */
const LARGEST_HOLDOUT = 0.5;

/** Without `lessons`, a manifest means `eager`. `isDisabled`: `disable-self-improvement`, undefined if it is not set. */
export function readLessonSettings(
  find: (key: string) => Setting | undefined,
  isDisabled: boolean | undefined,
  file: string,
): LessonSettings {
  const read = <T>(key: LessonKey, fallback: T, parse: (value: string) => T | undefined, hint: string): T => {
    const setting = find(key);
    if (!setting || setting.value === '') return fallback;
    const value = parse(setting.value);
    if (value !== undefined) return value;
    const { value: text, line } = setting;
    throw new NightshiftError('bad-manager', `\`${key}: ${text}\` can't be read`, hint, { file, line });
  };
  const mode = read<LessonSettings['mode'] | undefined>(
    'lessons',
    undefined,
    (value) => MODES.find((each) => each === value),
    'write eager, careful or off',
  );
  if (mode !== undefined && isDisabled !== undefined && isDisabled !== (mode === 'off')) {
    const message = `\`lessons: ${mode}\` contradicts \`disable-self-improvement: ${isDisabled}\``;
    const hint = 'remove `disable-self-improvement`';
    throw new NightshiftError('bad-manager', message, hint, { file, line: find('lessons')!.line });
  }
  return {
    mode: mode ?? (isDisabled ? 'off' : 'eager'),
    budget: {
      lessons: read('max-lessons', DEFAULT_LESSONS, parseCount, `write a number from 1 to ${MOST_LESSONS}`),
      bytes: read('max-lessons-size', DEFAULT_BYTES, parseSize, 'write it like `6 KB`, at most 64 KB'),
    },
    holdout: read('holdout', 0, parseShare, 'write it like `5%`, at most 50%'),
  };
}

function parseCount(text: string): number | undefined {
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= MOST_LESSONS ? count : undefined;
}

function parseSize(text: string): number | undefined {
  const [, digits, unit] = /^(\d+)\s*(kb|b)?$/i.exec(text) ?? [];
  const bytes = Number(digits ?? 0) * (unit?.toLowerCase() === 'kb' ? 1024 : 1);
  return bytes >= 1 && bytes <= MOST_BYTES ? bytes : undefined;
}

function parseShare(text: string): number | undefined {
  const [, digits] = /^(\d+(?:\.\d+)?)\s*%$/.exec(text) ?? [];
  const share = digits === undefined ? Number.NaN : Number(digits) / 100;
  return share >= 0 && share <= LARGEST_HOLDOUT ? share : undefined;
}
