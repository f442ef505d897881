import { expect, test } from 'vitest';
import { withoutResults } from './results.ts';

test('F3 files that the texts make of other files are no items', () => {
  const paths = ['a.md', 'a.md.de.md', 'a.md.de.md.de.md', 'b.md', 'c.de.md', 'out/b.md'];
  const kept = (...texts: string[]) => withoutResults(paths, texts);
  expect(kept('Translate {path} to German as {path}.de.md')).toEqual(['a.md', 'b.md', 'c.de.md', 'out/b.md']);
  expect(kept('Translate it.', 'test -s "{path}.de.md"')).toEqual(['a.md', 'b.md', 'c.de.md', 'out/b.md']);
  expect(kept('Write out/{path}.')).toEqual(paths.slice(0, 5));
  expect(withoutResults(['$$.md', '$$.md.de'], ['Write {path}.de'])).toEqual(['$$.md']);
  expect(kept('Fix {path}.', 'cat "{path}"', 'x={path}; {other}')).toEqual(paths);
});
