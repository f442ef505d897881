import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from './line-diff.ts';

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
