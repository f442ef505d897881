import { expect, test } from 'vitest';
import { NightshiftError } from '../core/model/errors.ts';
import { parseManager, readShiftSettings } from './manager.ts';

const read = (...lines: string[]) => {
  const text = `## Shift Configuration\n${lines.map((line) => `- ${line}\n`).join('')}## Task Order\n1. a\n`;
  return readShiftSettings(parseManager(text, 'manager.md'), 'manager.md');
};
const DEFAULT = { mode: 'eager', budget: { lessons: 20, bytes: 6144 }, holdout: 0 };

test.each([
  [[], DEFAULT],
  [['disable-self-improvement: true'], { ...DEFAULT, mode: 'off' }],
  [['disable-self-improvement: false', 'lessons: careful'], { ...DEFAULT, mode: 'careful' }],
  [['disable-self-improvement: true', 'lessons: off'], { ...DEFAULT, mode: 'off' }],
  [
    ['lessons: careful', 'max-lessons: 3', 'max-lessons-size: 2 KB', 'holdout: 2.5%'],
    { mode: 'careful', budget: { lessons: 3, bytes: 2048 }, holdout: 0.025 },
  ],
])('L5 %j is read, without a warning', (lines, lessons) => {
  expect(read(...lines)).toMatchObject({ settings: { lessons }, warnings: [] });
});

test.each([
  ['lessons: sometimes', 'write eager, careful or off'],
  ['max-lessons: 0', 'write a number from 1 to 100'],
  ['max-lessons-size: 1 GB', 'write it like `6 KB`, at most 64 KB'],
  ['holdout: 5', 'write it like `5%`, at most 50%'],
  ['holdout: 51%', 'write it like `5%`, at most 50%'],
])('L5 `%s` is an error with its line', (line, hint) => {
  const message = `\`${line}\` can't be read`;
  expect(() => read('name: x', line)).toThrow(expect.objectContaining({ code: 'bad-manager', message, hint, line: 3 }));
});

test.each([
  ['true', 'eager'],
  ['false', 'off'],
])('L5 disable-self-improvement: %s contradicts lessons: %s', (disable, mode) => {
  expect(() => read(`disable-self-improvement: ${disable}`, `lessons: ${mode}`)).toThrow(NightshiftError);
});
