import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines, unifiedDiff } from './line-diff.ts';

test('L4 a difference holds both texts, and nothing that is the same is shown as changed', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 8 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const lines = diffLines(before, after);
      const side = (sign: string) =>
        lines
          .filter((line) => line[0] === ' ' || line[0] === sign)
          .map((line) => line.slice(1))
          .join('\n');
      expect(side('-')).toBe(before);
      expect(side('+')).toBe(after);
      if (before === after) expect(lines.every((line) => line[0] === ' ')).toBe(true);
    }),
  );
  expect(diffLines('1. a\n2. b', '1. a\n2. x\n3. b')).toEqual([' 1. a', '-2. b', '+2. x', '+3. b']);
});

test('D5 what changed is shown with a few lines around it', () => {
  const lines = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`);
  const after = lines.with(1, 'second').toSpliced(15, 1);
  expect(unifiedDiff(lines.join('\n'), after.join('\n'))).toEqual([
    ...[' line 1', '-line 2', '+second', ' line 3', ' line 4', ' line 5'],
    ...['@@ line 13 @@', ' line 13', ' line 14', ' line 15', '-line 16', ' line 17', ' line 18', ' line 19'],
  ]);
  expect(unifiedDiff('a\nb\n', 'a\nb\n')).toEqual([]);
  expect(unifiedDiff('', 'a\nb')).toEqual(['-', '+a', '+b']);
  expect(unifiedDiff('a\n', 'a\nb\n')).toEqual([' a', '+b', ' ']);
  const long = Array.from({ length: 4000 }, (_, i) => `${i}`);
  expect(unifiedDiff(long.join('\n'), long.toReversed().join('\n'))).toHaveLength(8000);
});
